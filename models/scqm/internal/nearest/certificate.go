package nearest

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Certifies reports whether [UncertainRows] can certify rows under a loss: a function of the norm, a
// [framework.Quadratic], a [rowloss.Minorizer], or a differentiable [rowloss.PowerSum].
func Certifies(loss framework.Loss) bool {
	switch l := loss.(type) {
	case framework.Radial, framework.Quadratic, rowloss.Minorizer:
		return true
	case rowloss.PowerSum:
		return l.Power() > 1
	}
	return false
}

// UncertainRows lists the rows of x, at tau, to which another point of the sheet may be nearer by
// more than a part within of the loss, in place of which functions of the norm, which grow with
// it, take the squared distance. It costs 2nDm operations, and nDm^2/2 more under a
// [rowloss.Minorizer] or [rowloss.PowerSum]. Workers are those of the caller's goroutines.
func UncertainRows(ctx context.Context, tau []float64, f *sheet.Sheet, loss framework.Loss, x rows.Data, within float64, worker func(id int) *Worker, threads int) ([]int, error) {
	lists := make([][]int, par.Shards(x.N))
	err := eachShard(threads, len(lists), func(id, shard int) (err error) {
		w, c := worker(id), newCertificate(f, loss, within)
		lo, hi := par.Bounds(x.N, shard)
		for from := lo; from < hi && err == nil; from += w.Batch {
			if err = ctx.Err(); err == nil {
				lists[shard], err = c.uncertain(lists[shard], w, tau, x, from, min(from+w.Batch, hi))
			}
		}
		return err
	})
	return slices.Concat(lists...), err
}

// certificate certifies that rows are at their nearest point of the whole sheet, under a loss with a quadratic lower
// bound of weights W: a [rowloss.Minorizer] or, where it is lower than at the row, a [rowloss.PowerSum], or
// r'Mr itself, with W = 2M. For functions of the norm the loss is the squared distance, with W = 2I. With the
// gradient g of the loss at the residual, s = E'Q'g, B = sum_k (V'g)_k A_k, G = Q'WQ and the Jacobian E of z,
//
//	h(tau + t) >= h(tau) + s't + t'(S + 2B)t / 2,   S = G_U - G_UV G_V^-1 G_VU,
//
// for every t: whatever t adds to z in V, the form in G is least where that is -G_V^-1 G_VU t. Where S + 2B is
// positive definite the loss falls nowhere by more than s'(S + 2B)^-1 s / 2. A row takes one loss with its
// gradient and, where every row has a W of its own, Dm^2/2 operations.
type certificate struct {
	within float64
	f      *sheet.Sheet
	loss   framework.Loss
	radial bool
	lower  rowloss.Minorizer // nil for others
	metric *metric           // of r'Mr, nil for others

	weights []float64 // of a batch of rows
	wq      []float64 // D
	gram    []float64 // m x m: Cholesky's factor of [G_V, G_VU; G_UV, G_U]
	h       []float64 // d x d
	s, way  []float64 // d
}

// newCertificate prepares for a sheet as it is.
func newCertificate(f *sheet.Sheet, loss framework.Loss, within float64) *certificate {
	vec := func(n int) []float64 { return make([]float64, n) }
	c := &certificate{
		within: within, f: f, loss: loss, wq: vec(f.D), gram: vec(f.M * f.M),
		h: vec(f.Latent * f.Latent), s: vec(f.Latent), way: vec(f.Latent),
	}
	if c.metric = newMetric(f, loss); c.metric != nil {
		c.metric.load(f)
	}
	_, c.radial = loss.(framework.Radial)
	c.lower, _ = loss.(rowloss.Minorizer)
	return c
}

// uncertain appends the rows of a range that are not certified.
func (c *certificate) uncertain(list []int, w *Worker, tau []float64, x rows.Data, from, to int) ([]int, error) {
	f, n, d := c.f, to-from, c.f.Latent
	r, g, values := w.R[:n*f.D], w.G[:n*f.D], w.Values[:n]
	for i := range n {
		f.Coordinates(w.Row(w.Z, f.M, i), w.Row(w.Phi, f.Q, i), tau[(from+i)*d:(from+i+1)*d])
		f.Deviation(r[i*f.D:(i+1)*f.D], x.Row(from+i))
	}
	f.AddImages(r, w.Z, n)
	if err := c.evaluate(values, g, r); err != nil {
		return list, err
	}
	f.RowsToFrame(w.Pulled, g, n)
	for i, v := range values {
		f.TauGradient(c.s, w.W, tau[(from+i)*d:(from+i+1)*d], w.Row(w.Pulled, f.M, i))
		if !c.loadForm(i) || !c.holds(v, w.W) {
			list = append(list, from+i)
		}
	}
	return list, nil
}

// evaluate writes losses and gradients, and the weights of rows that have their own.
func (c *certificate) evaluate(values, g, r []float64) error {
	if c.radial {
		floats.ScaleTo(g, 2, r)
		for i := range values {
			row := r[i*c.f.D : (i+1)*c.f.D]
			values[i] = dense.InnerProduct(row, row)
		}
		return nil
	}
	if err := c.loss.Evaluate(values, g, r, c.f.D); err != nil || c.metric != nil {
		return err
	}
	return c.lowerWeights(values, g, r)
}

// lowerWeights writes the weights of rows with losses, gradients and residuals.
func (c *certificate) lowerWeights(values, g, r []float64) error {
	c.weights = dense.Grow(c.weights, len(r))
	if c.lower != nil {
		return c.lower.LowerWeights(c.weights, r, c.f.D)
	}
	p := c.loss.(rowloss.PowerSum).Power()
	for i, v := range values {
		from, to := i*c.f.D, (i+1)*c.f.D
		powerWeights(c.weights[from:to], p, v, g[from:to], r[from:to])
	}
	return nil
}

// nearLargest is the relative distance from the largest possible entry below which differences of powers have
// too few digits.
const nearLargest = 1e-3

// powerWeights writes the weights of a row r whose loss sum_k |r_k|^p is value, for 1 < p < 2. Where
// the loss is no larger no entry is above R = value^(1/p). With a = |r_k|, the secant
//
//	w = 2 (|b|^p - a^p - p a^(p-1) (b - a)) / (b - a)^2
//
// is a mean of the second derivatives p(p-1)|v|^(p-2) on the way from a to b, which fall with |v|:
// over |b| <= R it is least at b = R.
func powerWeights(w []float64, p, value float64, g, r []float64) {
	largest := math.Pow(value, 1/p)
	least := p * (p - 1) * value / (largest * largest)
	for k, v := range r {
		a := math.Abs(v)
		first := math.Abs(g[k])
		w[k] = least
		if way := largest - a; way > nearLargest*largest {
			w[k] = max(least, 2*(value-first*(a/p+way))/(way*way)*(1-1e-8))
		}
		if !dense.Finite(w[k]) {
			w[k] = 0
		}
	}
}

// loadForm writes S for row i of the batch into h, and reports false where G_V is singular.
func (c *certificate) loadForm(i int) bool {
	f := c.f
	d, m := f.Latent, f.M
	switch {
	case c.radial:
		clear(c.h)
		for j := range d {
			c.h[j*d+j] = 2
		}
		return true
	case c.metric != nil:
		floats.ScaleTo(c.h, 2, c.metric.schur)
		return true
	}
	w, place := c.weights[i*f.D:(i+1)*f.D], func(axis int) int { return (axis + f.S) % m } // those of V first
	for a := range m {
		dense.Products(c.wq, w, f.Axis(a))
		for b := range a + 1 {
			v := dense.InnerProduct(c.wq, f.Axis(b))
			at, to := place(a), place(b)
			c.gram[at*m+to], c.gram[to*m+at] = v, v
		}
	}
	if !dense.FactorCholesky(c.gram, m, 0, dense.Flat) {
		return false
	}
	for j := range d { // the last block of the factor is that of S
		row := c.gram[(f.S+j)*m+f.S:]
		for k := range j + 1 {
			v := floats.Dot(row[:k+1], c.gram[(f.S+k)*m+f.S:][:k+1])
			c.h[j*d+k], c.h[k*d+j] = v, v
		}
	}
	return true
}

// holds decides for a row with the given loss, and forms weighted by Theta V'g.
func (c *certificate) holds(loss float64, forms []float64) bool {
	d := c.f.Latent
	c.f.AddCurvature(c.h, forms)
	if !dense.FactorCholesky(c.h, d, 0, dense.Flat) {
		return false
	}
	copy(c.way, c.s)
	dense.SolveCholesky(c.way, c.h, d)
	return floats.Dot(c.way, c.s)/2 <= c.within*loss
}
