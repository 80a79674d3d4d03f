package scqm

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// A sheet that bends gently is the graph of quadratic functions over its plane, which least squares find
// without a step. So small fits start from
//
//	argmin sum_i w_i |V'(x_i - mean) - h - B't_i - Theta'phi(t_i)|^2 + mu sum_k |A_k|_F^2
//
// over h, B and Theta, where [U V] are principal components, t_i = U'(x_i - mean), and mu is the ridge that
// squared_l2 has. The sheet goes through the height h at the mean, its plane turns to the slopes B there, which makes the axes the polar
// factor of [U + VB' V - UB], and rows go to their nearest points. Second order in the slopes, which are small
// beside those of the curvature, is left out. What Newton's method has left to do is to tilt the
// axes, and to measure across the sheet in place of across its plane.

const (
	// graphDamping is the damping of the first step from there.
	graphDamping = 1e-3
	// graphRank is the least part of a feature that those before it do not explain.
	graphRank = 1e-12
	// graphRidge is the least ridge at which fits start from graphs. Below, costs have several minima for noisy rows,
	// and where a fit ends depends on its start.
	graphRidge = 1
	// graphBent is the curvature times the distance of the farthest row up to which a sheet is a graph. Of fits that
	// bend more, which are those of before, one in 20 would end in another minimum.
	graphBent = 0.6
)

// graph holds what such a start takes.
type graph struct {
	sheet.Shape
	features   int       // 1 + d + q
	phi        []float64 // of a row
	gram       []float64 // features x features: its Cholesky factor
	heights    []float64 // s x features: coefficients, of one height after the other
	axes       []float64 // m x D
	theta      []float64 // q x s
	polar      *dense.Polar
	difference []float64 // D
	extent     float64   // of the rows in the plane
}

// errBent says that there is no graph to start from.
var errBent = errors.New("scqm: not a graph that bends gently")

// bends reports whether a sheet of such forms bends by so much of its extent that its cost may have several
// minima.
func (g *graph) bends(theta []float64) bool {
	forms := sheet.Sheet{Shape: g.Shape, Theta: theta}
	return !(forms.RootSquareNorm()*g.extent <= graphBent)
}

func newGraph(f sheet.Shape) *graph {
	vec := func(n int) []float64 { return make([]float64, n) }
	n := 1 + f.Latent + f.Q
	return &graph{
		Shape: f, features: n, phi: vec(n), gram: vec(n * n), heights: vec(f.S * n), axes: vec(f.M * f.D), theta: vec(f.Q * f.S),
		polar: dense.NewPolar(f.M, f.D), difference: vec(f.D),
	}
}

// start moves x, a flat start at principal components axes with projections tau, to the graph. It
// reports false, and leaves x as it is, where rows do not determine it, where it bends by more than its
// extent, for which there are other minima, or its penalty is above p.MaxPenalty, as that of rounding errors.
func (g *graph) start(p *Problem, x framework.Point, axes []float64, mu float64) bool {
	g.sum(p, x, axes)
	quadratic := 1 + g.Latent
	for a := range g.Q {
		k := quadratic + a
		g.gram[k*g.features+k] += mu * sheet.VechWeight(g.Latent, a)
	}
	if !dense.FactorCholesky(g.gram, g.features, 0, graphRank) {
		return false
	}
	for k := range g.S {
		height := g.heights[k*g.features : (k+1)*g.features]
		dense.SolveCholesky(height, g.gram, g.features)
		for a, v := range height[quadratic:] {
			g.theta[a*g.S+k] = v
		}
	}
	g.extent = floats.Norm(x[BlockTau], math.Inf(1))
	if g.bends(g.theta) || p.Penalty(nil, g.theta) > p.MaxPenalty || !g.turn(axes) {
		return false
	}
	copy(x[BlockTheta], g.theta)
	for k := range g.S {
		floats.AddScaled(x[BlockC], g.heights[k*g.features], axes[(g.Latent+k)*g.D:(g.Latent+k+1)*g.D])
	}
	dense.Transpose(x[BlockQ], g.axes, g.M, g.D)
	return true
}

// sum adds up the normal equations.
func (g *graph) sum(p *Problem, x framework.Point, axes []float64) {
	data, d, n := p.Data(), g.Latent, g.features
	clear(g.gram)
	clear(g.heights)
	for i := range data.N {
		w, tau := data.Weight(i), x[BlockTau][i*d:(i+1)*d]
		g.phi[0] = 1
		copy(g.phi[1:], tau)
		sheet.Vech(g.phi[1+d:], tau)
		for j, v := range g.phi {
			v *= w
			row := g.gram[j*n : j*n+j+1]
			for k := range row {
				row[k] += v * g.phi[k]
			}
		}
		floats.SubTo(g.difference, data.Row(i), x[BlockC])
		for k := range g.S {
			y := w * dense.Dot(axes[(d+k)*g.D:(d+k+1)*g.D], g.difference)
			height := g.heights[k*n : (k+1)*n]
			for j, v := range g.phi {
				height[j] += y * v
			}
		}
	}
}

// turn writes the axes that have the slopes.
func (g *graph) turn(axes []float64) bool {
	copy(g.axes, axes)
	for k := range g.S {
		v := g.Latent + k
		for j := range g.Latent {
			slope := g.heights[k*g.features+1+j]
			floats.AddScaled(g.axes[j*g.D:(j+1)*g.D], slope, axes[v*g.D:(v+1)*g.D])
			floats.AddScaled(g.axes[v*g.D:(v+1)*g.D], -slope, axes[j*g.D:(j+1)*g.D])
		}
	}
	return g.polar.Orthonormalize(g.axes, g.D) && !math.IsNaN(floats.Sum(g.axes))
}
