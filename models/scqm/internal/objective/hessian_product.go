package objective

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// hessianProduct holds the buffers of products with the Hessian: the direction as a
// sheet, what is the same for all products at a point, and those of every goroutine.
type hessianProduct struct {
	along   *sheet.Sheet // dc, dQ and dTheta
	at      secondDerivatives
	workers []*productWorker
}

// productWorker holds derivatives along the direction, for a batch of rows.
type productWorker struct {
	dr, dg         []float64 // batch x D: of the residual, of the loss gradient
	dz, dphi       []float64 // batch x m, batch x q
	dpulled, other []float64 // batch x m: of Q'g
	row            []float64 // max(s, q)
}

// HessianProduct implements [framework.TwiceDifferentiable] without the matrix, in the
// coordinates of the blocks. Along (dc, dQ, dTheta, dtau_i), with L the derivative of
// phi, z, g and E as in Evaluate, and H_i the Hessian of the loss,
//
//	dphi = L dtau,  dz = [dtau; dTheta' phi + Theta' dphi],
//	dr = dc + dQ z + Q dz,  dg = w H dr,  db = dQ'g + Q'dg  of  b = Q'g,
//
// and the product has the blocks
//
//	sum dg,  sum dg z' + g dz',  sum phi db_V' + dphi b_V',
//	E'db + 2 sum_k (dA_k tau + A_k dtau) b_Vk  for every row.
//
// It takes 12nDm operations, and the derivatives of the loss of n rows at the first
// product at a point; see [secondDerivatives].
func (p *Objective) HessianProduct(dst, x, v framework.Point) error {
	if err := p.KeepResiduals(x); err != nil {
		return err
	}
	if p.product == nil {
		p.product = &hessianProduct{along: p.NewSheet(), workers: make([]*productWorker, p.threads)}
	}
	h := p.product
	h.at.prepare(p, x)
	p.sheet.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	h.along.Load(v[BlockC], v[BlockQ], v[BlockTheta])
	par.Do(p.threads, len(p.sums), func(id, i int) { p.errs[i] = p.productShard(id, i, dst, v) })
	for _, err := range p.errs {
		if err != nil {
			return err
		}
	}
	h.at.known = true
	all := want{c: true, q: true, theta: true, tau: true}
	p.total.reset()
	for _, s := range p.sums {
		p.total.add(s, all)
	}
	p.total.write(p.sheet, dst, all)
	p.AddPenaltyProduct(p.sheet.Shape, dst[BlockTheta], v[BlockTheta])
	return nil
}

// productWorker returns the buffers of a goroutine, made at their first use.
func (p *Objective) productWorker(id, batch int) *productWorker {
	if p.product.workers[id] == nil {
		f := p.sheet
		vec := func(n int) []float64 { return make([]float64, n) }
		p.product.workers[id] = &productWorker{
			dr: vec(batch * f.D), dg: vec(batch * f.D), dz: vec(batch * f.M), dphi: vec(batch * f.Q),
			dpulled: vec(batch * f.M), other: vec(batch * f.M), row: vec(max(f.S, f.Q)),
		}
	}
	return p.product.workers[id]
}

func (p *Objective) productShard(id, i int, dst, v framework.Point) error {
	lo, hi := par.Bounds(p.data.N, i)
	w := p.Worker(id)
	h := p.productWorker(id, w.Batch)
	p.sums[i].reset()
	for from := lo; from < hi; from += w.Batch {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		if err := p.productBatch(w, h, p.sums[i], dst, v, from, min(from+w.Batch, hi)); err != nil {
			return err
		}
	}
	return nil
}

// productBatch adds the rows from to to.
func (p *Objective) productBatch(w *nearest.Worker, h *productWorker, s *sums, dst, v framework.Point, from, to int) error {
	f, n := p.sheet, to-from
	at := &p.product.at
	if err := at.load(p, from, to); err != nil {
		return fmt.Errorf("scqm: loss %s: %w", p.loss.Name(), err)
	}
	g, pulled := at.g[from*f.D:to*f.D], at.pulled[from*f.M:to*f.M]
	tau := p.at[BlockTau][from*f.Latent : to*f.Latent]
	dtau := v[BlockTau][from*f.Latent : to*f.Latent]
	p.moveRows(w, h, tau, dtau, n)
	dg := h.dg[:n*f.D]
	if err := at.apply(p, dg, h.dr[:n*f.D], from, to); err != nil {
		return fmt.Errorf("scqm: loss %s: %w", p.loss.Name(), err)
	}
	for i := range n {
		floats.Add(s.c, dg[i*f.D:(i+1)*f.D])
	}
	dense.AddProduct(s.qt, w.Z, dg, n, f.M, f.D)
	dense.AddProduct(s.qt, h.dz, g, n, f.M, f.D)
	f.RowsToFrame(h.dpulled, dg, n)
	p.product.along.RowsToFrame(h.other, g, n)
	floats.Add(h.dpulled[:n*f.M], h.other[:n*f.M])
	for i := range n {
		out := dst[BlockTau][(from+i)*f.Latent : (from+i+1)*f.Latent]
		p.pullRow(w, h, s, out, w.Row(pulled, f.M, i)[f.Latent:], w.Row(tau, f.Latent, i), w.Row(dtau, f.Latent, i), i)
		if p.Prior != nil {
			p.Prior.Of(p.data, from+i).AddGradient(out, w.Row(dtau, f.Latent, i), p.data.Weight(from+i))
		}
	}
	return nil
}

// moveRows computes z and phi of n rows and how these and residuals change.
func (p *Objective) moveRows(w *nearest.Worker, h *productWorker, tau, dtau []float64, n int) {
	f, along := p.sheet, p.product.along
	for i := range n {
		t, dt := w.Row(tau, f.Latent, i), w.Row(dtau, f.Latent, i)
		phi, dphi, dz := w.Row(w.Phi, f.Q, i), w.Row(h.dphi, f.Q, i), w.Row(h.dz, f.M, i)
		f.Coordinates(w.Row(w.Z, f.M, i), phi, t)
		a := 0
		for j := range t {
			for l := j; l < len(t); l++ {
				dphi[a] = dt[j]*t[l] + t[j]*dt[l]
				a++
			}
		}
		copy(dz, dt)
		f.Quadratic(dz[f.Latent:], dphi)
		turned := h.row[:f.S]
		along.Quadratic(turned, phi)
		floats.Add(dz[f.Latent:], turned)
		copy(h.dr[i*f.D:(i+1)*f.D], along.C)
	}
	along.AddImages(h.dr, w.Z, n)
	f.AddImages(h.dr, h.dz, n)
}

// pullRow adds the part of row i of the batch, with V'g = b, to that of Theta, and
// writes that of its tau.
func (p *Objective) pullRow(w *nearest.Worker, h *productWorker, s *sums, out, b, tau, dtau []float64, i int) {
	f := p.sheet
	db := w.Row(h.dpulled, f.M, i)
	phi, dphi := w.Row(w.Phi, f.Q, i), w.Row(h.dphi, f.Q, i)
	for a := range phi {
		row := s.theta[a*f.S : (a+1)*f.S]
		for k := range row {
			row[k] += phi[a]*db[f.Latent+k] + dphi[a]*b[k]
		}
	}
	f.TauGradient(out, w.W, tau, db)
	forms := h.row[:f.Q]
	p.product.along.WeighForms(forms, b)
	sheet.AddForm(out, forms, tau)
	f.WeighForms(forms, b)
	sheet.AddForm(out, forms, dtau)
}
