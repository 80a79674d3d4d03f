package objective

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// flatAxis is the root mean square of a coordinate of tau, relative to the longest, below which it is only rounding
// error.
const flatAxis = 1e-7

// SolveTheta sets the least-squares Theta of a principal component start for its c, V and tau,
//
//	Theta = argmin sum_i w_i |V'(x_i - c) - Theta' (phi_i - mean phi)|^2,
//
// and adjusts c by -V Theta' mean phi. With Theta = 0 the cost does not depend on V, and methods for all blocks at
// once would lose their first steps finding a scale. Coordinates of tau that are rounding errors count as 0, because
// quotients by them are not curvature. If the penalty would exceed MaxPenalty, as for quotients of other rounding
// errors, Theta does not change. It takes nDs + nq(q+s) operations.
func (p *Objective) SolveTheta(x framework.Point) {
	f := p.sheet
	f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	heights := make([]float64, p.data.N*f.S)
	p.data.EachProduct(f.C, f.QT[f.Latent*f.D:f.M*f.D], nil, func(i int, b []float64) { copy(heights[i*f.S:], b) })
	p.SolveThetaFor(x, heights)
}

// SolveThetaFor does what SolveTheta does, given the V'(x_i - c), n x s, in which missing entries may be imputed.
func (p *Objective) SolveThetaFor(x framework.Point, heights []float64) {
	f := p.sheet
	// In units of the longest tau, products of features do not overflow.
	unit := floats.Norm(x[BlockTau], math.Inf(1))
	if f.S == 0 || unit == 0 {
		return
	}
	f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	vec := func(n int) []float64 { return make([]float64, n) }
	e := ThetaEquations{Gram: vec(f.Q * f.Q), Right: vec(f.S * f.Q), Mean: vec(f.Q), Unit: unit}
	tau, phi, total := vec(f.Latent), vec(f.Q), p.data.TotalWeight()
	features := func(i int) {
		floats.ScaleTo(tau, 1/unit, p.blocks[BlockTau].Row(x[BlockTau], i))
		sheet.Vech(phi, tau)
	}
	for i := range p.data.N {
		features(i)
		floats.AddScaled(e.Mean, p.data.Weight(i)/total, phi)
	}
	for i := range p.data.N {
		w := p.data.Weight(i)
		features(i)
		floats.Sub(phi, e.Mean)
		for a, v := range phi {
			floats.AddScaled(e.Gram[a*f.Q:(a+1)*f.Q], w*v, phi)
		}
		for j, v := range heights[i*f.S : (i+1)*f.S] {
			floats.AddScaled(e.Right[j*f.Q:(j+1)*f.Q], w*v, phi)
		}
	}
	e.Solve(x, f, p.Regularizer)
}

// ThetaEquations holds the normal equations of Theta for rows on a flat sheet, with tau divided by a unit.
type ThetaEquations struct {
	Gram  []float64 // q x q: sum of w (phi - mean)(phi - mean)'
	Right []float64 // s x q: sum of w V'(x - c) (phi - mean)'
	Mean  []float64 // q: of phi
	Unit  float64   // of tau
}

// Solve writes Theta into x, and adjusts c so that the mean stays. If the penalty exceeds MaxPenalty, nothing
// changes: such curvature comes from rounding errors. It overwrites the equations.
func (e ThetaEquations) Solve(x framework.Point, f *sheet.Sheet, r Regularizer) {
	e.dropFlat(f)
	dense.JitteredCholesky(e.Gram, f.Q)
	theta := make([]float64, f.Q*f.S)
	for j := range f.S {
		column := e.Right[j*f.Q : (j+1)*f.Q]
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

// dropFlat removes the features of coordinates of tau that are rounding errors.
func (e ThetaEquations) dropFlat(f *sheet.Sheet) {
	sizes, at := make([]float64, f.Latent), 0
	for j := range sizes {
		sizes[j] = math.Sqrt(e.Mean[at])
		at += f.Latent - j
	}
	least := flatAxis + cancellation*floats.Norm(f.C, math.Inf(1))/e.Unit
	at = 0
	for i := range sizes {
		for j := i; j < f.Latent; j++ {
			if min(sizes[i], sizes[j]) <= least {
				e.Mean[at] = 0
				clear(e.Gram[at*f.Q : (at+1)*f.Q])
				for b := at; b < len(e.Gram); b += f.Q {
					e.Gram[b] = 0
				}
				for b := at; b < len(e.Right); b += f.Q {
					e.Right[b] = 0
				}
			}
			at++
		}
	}
}
