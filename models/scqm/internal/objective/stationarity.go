package objective

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

const (
	// interpolation is the size of residuals, relative to that of the data
	// around c, below which they are rounding errors and a fit is exact.
	interpolation = 1e-13
	// cancellation is the same relative to the data themselves, whose common
	// offset costs digits.
	cancellation = 1e-15
)

// KKT holds the norms of the first-order system at a point, per sample: of the
// gradients with respect to c, Q (Riemannian) and Theta divided by n, and the
// mean norm of the gradients with respect to tau_i. The unit is that of the
// loss's derivatives.
type KKT struct {
	C     float64
	Q     float64
	Theta float64
	Tau   float64
}

// Stationarity writes, per block, the norm of the gradient divided by the sum
// of the norms of the terms it is a sum of: numbers in [0, 1] that do not
// depend on the scale of the data. For c that is |sum g_i| / sum |g_i|, for Q
// |grad_Q| / sum |g_i||z_i|, for Theta |grad_Theta| / sum |phi_i||g_i| and for
// Tau sum |grad_tau_i| / sum |g_i||E_i|_F. Where all residuals are rounding
// errors, they are 0.
//
// Where the problem was smoothed, g_i are the gradients of the loss smoothed
// over the last length and no number is less than their distance from
// subgradients of the loss itself, see certificateSlack. It costs one evaluation.
func (p *Objective) Stationarity(dst []float64, x framework.Point) error {
	norms, terms, err := p.firstOrder(x)
	if err != nil {
		return err
	}
	slack, err := p.certificateSlack(x)
	if err != nil {
		return err
	}
	for k := range dst {
		dst[k] = 0
		if terms[k] > 0 {
			dst[k] = math.Max(norms[k]/terms[k], slack)
		}
	}
	return nil
}

// KKT computes the norms of the first-order system at x.
func (p *Objective) KKT(x framework.Point) (KKT, error) {
	norms, _, err := p.firstOrder(x)
	n := float64(p.data.N)
	return KKT{C: norms[BlockC] / n, Q: norms[BlockQ] / n, Theta: norms[BlockTheta] / n, Tau: norms[BlockTau] / n}, err
}

// firstOrder returns the gradient norms of the blocks and the sums of the norms
// of their terms, all 0 at an interpolation.
func (p *Objective) firstOrder(x framework.Point) (norms, terms [NumBlocks]float64, err error) {
	if rounded := p.smoothing.inUse(); rounded != nil {
		defer func(l framework.Loss) { p.loss = l }(p.loss)
		p.loss = rounded
	}
	grad := framework.NewPoint(p.blocks)
	if _, err = p.Evaluate(grad, x); err != nil {
		return norms, terms, err
	}
	terms, exact, err := p.GradientTerms()
	if err != nil || exact {
		return norms, [NumBlocks]float64{}, err
	}
	for k, b := range p.blocks[:BlockTau] {
		b.Gradient(grad[k], x[k], grad[k])
		norms[k] = floats.Norm(grad[k], 2)
	}
	tau := p.blocks[BlockTau]
	for i := range tau.Rows() {
		norms[BlockTau] += floats.Norm(tau.Row(grad[BlockTau], i), 2)
	}
	terms[BlockTheta] += p.penaltySlope(x[BlockTheta])
	return norms, terms, nil
}

func (p *Objective) penaltySlope(theta []float64) float64 {
	g := make(framework.Point, NumBlocks)
	g[BlockTheta] = make([]float64, len(theta))
	p.Penalty(g, theta)
	return floats.Norm(g[BlockTheta], 2)
}

// GradientTerms sums, at the point evaluated last, the norms of the terms of
// every gradient, and says whether all residuals are rounding errors.
func (p *Objective) GradientTerms() (terms [NumBlocks]float64, exact bool, err error) {
	type part struct {
		terms           [NumBlocks]float64
		resid, rounding float64
		err             error
	}
	parts := make([]part, len(p.sums))
	par.Do(p.threads, len(parts), func(id, shard int) {
		lo, hi := par.Bounds(p.data.N, shard)
		t, w := &parts[shard], p.Worker(id)
		for i := lo; i < hi && t.err == nil; i++ {
			if t.err = p.ctx.Err(); t.err == nil {
				t.err = p.addTerms(w, &t.terms, &t.resid, &t.rounding, i)
			}
		}
	})
	var resid, rounding float64
	for _, t := range parts {
		if t.err != nil {
			return terms, false, t.err
		}
		for k, v := range t.terms {
			terms[k] += v
		}
		resid, rounding = math.Max(resid, t.resid), math.Max(rounding, t.rounding)
	}
	return terms, resid <= rounding, nil
}

// addTerms adds the terms of row i.
func (p *Objective) addTerms(w *nearest.Worker, terms *[NumBlocks]float64, resid, rounding *float64, i int) error {
	f := p.sheet
	tau := p.blocks[BlockTau].Row(p.at[BlockTau], i)
	z, phi, r, g := w.Row(w.Z, f.M, 0), w.Row(w.Phi, f.Q, 0), w.R[:f.D], w.G[:f.D]
	f.Coordinates(z, phi, tau)
	f.Residual(r, z, p.data.Row(i))
	if err := p.loss.Evaluate(nil, g, r, f.D); err != nil {
		return err
	}
	weight := p.data.Weight(i)
	if weight > 0 {
		*resid = math.Max(*resid, floats.Norm(r, math.Inf(1)))
		inf := math.Inf(1)
		around := math.Max(floats.Distance(p.data.Row(i), f.C, inf), floats.Norm(z, inf))
		*rounding = math.Max(*rounding, interpolation*around+cancellation*floats.Norm(f.C, inf))
	}
	length := weight * floats.Norm(g, 2)
	f.Jacobian(w.Hess.E, tau)
	terms[BlockC] += length
	terms[BlockQ] += length * floats.Norm(z, 2)
	terms[BlockTheta] += length * floats.Norm(phi, 2)
	terms[BlockTau] += length * floats.Norm(w.Hess.E, 2)
	return nil
}
