package objective

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// SolveTheta sets the least-squares Theta of a principal component start for its c, V and tau,
//
//	Theta = argmin sum_i w_i |V'(x_i - c) - Theta' (phi_i - mean phi)|^2,
//
// and adjusts c by -V Theta' mean phi. With Theta = 0 the cost does not depend on V, and methods for all blocks at
// once would lose their first steps finding a scale. Coordinates of tau and of V'(x_i - c) that are rounding errors
// count as 0, because their quotients are not curvature. If the penalty would exceed MaxPenalty, as for quotients of
// other rounding errors, Theta does not change. It takes nDs + nq(q+s) operations.
func (p *Objective) SolveTheta(x framework.Point) { p.SolveThetaFor(x, p.data, nil) }

// SolveThetaFor does what SolveTheta does, for data with imputed missing entries. heights are the V'(x_i - c), n x s.
// If heights is nil it computes them by a read of the rows.
func (p *Objective) SolveThetaFor(x framework.Point, data rows.Data, heights []float64) {
	f := p.sheet
	if f.S == 0 {
		return
	}
	f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	// In units of the longest tau, products of features do not overflow.
	unit := floats.Norm(x[BlockTau], math.Inf(1))
	if unit == 0 {
		return
	}
	if p.theta == nil {
		p.theta = newLeastSquaresTheta(f)
	}
	k := p.theta
	if heights == nil {
		heights = k.heightsOf(data)
	}
	k.findFlat(heights, x[BlockTau], unit)
	k.sum(data, heights, x[BlockTau], unit)
	ThetaEquations{k.gram, k.rhs, k.mean, k.flat, unit}.Solve(x, f, p.Regularizer)
}

// ThetaEquations holds the normal equations of Theta for rows on a flat sheet, with tau divided by a unit.
type ThetaEquations struct {
	Gram  []float64 // q x q: sum of w (phi - mean)(phi - mean)'
	Right []float64 // s x q: sum of w V'(x - c) (phi - mean)'
	Mean  []float64 // q: of phi
	Flat  []bool    // m: the coordinate along that axis is a rounding error
	Unit  float64   // of tau
}

// Solve writes Theta into x, and adjusts c so that the mean stays. If the penalty exceeds MaxPenalty, nothing
// changes: such curvature comes from rounding errors. It overwrites the equations.
func (e ThetaEquations) Solve(x framework.Point, f *sheet.Sheet, r Regularizer) {
	dense.JitteredCholesky(e.Gram, f.Q)
	theta := make([]float64, f.Q*f.S)
	for j := range f.S {
		column := e.Right[j*f.Q : (j+1)*f.Q]
		if e.Flat[f.Latent+j] {
			clear(column)
			continue
		}
		dense.SolveCholesky(column, e.Gram, f.Q)
		for a, v := range column {
			theta[a*f.S+j] = v / e.Unit / e.Unit
		}
	}
	if r.Exceeds(r.PenaltyOf(f.Shape, nil, theta)) {
		return
	}
	copy(x[BlockTheta], theta)
	for j := range f.S {
		floats.AddScaled(x[BlockC], -floats.Dot(e.Right[j*f.Q:(j+1)*f.Q], e.Mean), f.Axis(f.Latent+j))
	}
}

// leastSquaresTheta holds the normal equations of Theta.
type leastSquaresTheta struct {
	f         *sheet.Sheet
	flat      []bool    // m: the coordinate along that axis is a rounding error
	sizes     []float64 // m: the largest distance of a row from c along that axis
	work      []float64 // of rows.EachProduct
	heights   []float64 // n x s
	mean, phi []float64 // q
	tau       []float64 // d
	gram      []float64 // q x q: sum of w (phi - mean)(phi - mean)'
	rhs       []float64 // s x q: sum of w V'(x - c) (phi - mean)'
}

func newLeastSquaresTheta(f *sheet.Sheet) *leastSquaresTheta {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &leastSquaresTheta{
		f: f, flat: make([]bool, f.M), sizes: vec(f.M), work: vec(rows.ProductsLen(f.S)), mean: vec(f.Q), phi: vec(f.Q), tau: vec(f.Latent),
		gram: vec(f.Q * f.Q), rhs: vec(f.S * f.Q),
	}
}

// features writes phi of row i, with tau in the given unit.
func (k *leastSquaresTheta) features(tau []float64, i int, unit float64) {
	for j := range k.tau {
		k.tau[j] = tau[i*k.f.Latent+j] / unit
		if k.flat[j] {
			k.tau[j] = 0
		}
	}
	sheet.Vech(k.phi, k.tau)
}

// findFlat lists the axes along which the rows differ only by rounding errors.
func (k *leastSquaresTheta) findFlat(heights, tau []float64, unit float64) {
	f, sizes := k.f, k.sizes
	clear(sizes)
	for i, v := range tau {
		sizes[i%f.Latent] = max(sizes[i%f.Latent], math.Abs(v))
	}
	for i, v := range heights {
		sizes[f.Latent+i%f.S] = max(sizes[f.Latent+i%f.S], math.Abs(v))
	}
	most := unit // the largest distance of a row from c along the axes
	for j, size := range sizes {
		most = math.Max(most, size)
		k.flat[j] = size <= InterpolationError(most, floats.Norm(f.C, math.Inf(1)))
	}
}

// heightsOf returns the coordinates of rows along the columns of V.
func (k *leastSquaresTheta) heightsOf(x rows.Data) []float64 {
	f := k.f
	k.heights = dense.Grow(k.heights, x.N*f.S)
	x.EachProduct(f.C, f.QT[f.Latent*f.D:f.M*f.D], nil, k.work, func(i int, b []float64) { copy(k.heights[i*f.S:], b) })
	return k.heights
}

func (k *leastSquaresTheta) sum(x rows.Data, heights, tau []float64, unit float64) {
	f := k.f
	clear(k.mean)
	clear(k.gram)
	clear(k.rhs)
	var total float64
	for i := range x.N {
		w := x.Weight(i)
		k.features(tau, i, unit)
		floats.AddScaled(k.mean, w, k.phi)
		total += w
	}
	floats.Scale(1/total, k.mean)
	for i := range x.N {
		w := x.Weight(i)
		k.features(tau, i, unit)
		floats.Sub(k.phi, k.mean)
		for a, v := range k.phi {
			floats.AddScaled(k.gram[a*f.Q:(a+1)*f.Q], w*v, k.phi)
		}
		for j, v := range heights[i*f.S : (i+1)*f.S] {
			floats.AddScaled(k.rhs[j*f.Q:(j+1)*f.Q], w*v, k.phi)
		}
	}
}
