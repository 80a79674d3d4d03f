// Package proximal minimises the sum of a smooth cost and a convex penalty with kinks whose proximal map is known.
// Examples are the lasso and sparse principal components.
//
// Begin with [Sum], and pass it to framework.Solve with [Gradient].
package proximal

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// Penalty is a convex function h of the entries of a point, of its own [framework.Point] shape.
type Penalty interface {
	// Value returns h(x), which may be +Inf.
	Value(x framework.Point) float64
	// Prox writes into dst the y that minimises h(y) + |y - x|^2 / (2t). dst may be x.
	Prox(dst, x framework.Point, t float64)
}

// Composite is the capability that [Gradient] requires: a problem whose cost is f + h.
type Composite interface {
	framework.Problem
	// Parts returns f, with the blocks of the problem, and h.
	Parts() (framework.Problem, Penalty)
}

// Sum is the problem f + h. Its gradient is that of f, and its stationarity
// ([framework.Certifier]) is |v|/t, block by block, for the tangent vector v at x that minimises
//
//	g'v + |v|^2/(2t) + h(x + v)
//
// with the gradient g of f and t = max(1, |x|) / |g|: 0 at stationary points and in the unit of g.
type Sum struct {
	framework.Problem
	Penalty Penalty
}

// Parts implements [Composite].
func (p Sum) Parts() (framework.Problem, Penalty) { return p.Problem, p.Penalty }

// Evaluate implements [framework.Problem].
func (p Sum) Evaluate(grad, x framework.Point) (float64, error) {
	cost, err := p.Problem.Evaluate(grad, x)
	return cost + p.Penalty.Value(x), err
}

// Stationarity implements [framework.Certifier].
func (p Sum) Stationarity(dst []float64, x framework.Point) error {
	blocks := p.Blocks()
	g := framework.NewPoint(blocks)
	if _, err := p.Problem.Evaluate(g, x); err != nil {
		return err
	}
	s := newStep(blocks, p.Penalty)
	t := math.Max(1, x.Norm()) / g.Norm()
	if t-t != 0 { // no gradient at all
		t = 1
	}
	s.solve(x, g, t)
	for k, v := range s.v {
		dst[k] = floats.Norm(v, 2) / t
	}
	return nil
}

// L1 is the penalty Weight times the sum of the absolute values of all entries, Weight >= 0.
type L1 struct{ Weight float64 }

// Value implements [Penalty].
func (h L1) Value(x framework.Point) float64 {
	var sum float64
	for _, b := range x {
		sum += floats.Norm(b, 1)
	}
	return h.Weight * sum
}

// Prox moves every entry towards 0 by Weight times t.
func (h L1) Prox(dst, x framework.Point, t float64) {
	for k, b := range x {
		for i, v := range b {
			dst[k][i] = math.Copysign(math.Max(math.Abs(v)-h.Weight*t, 0), v)
		}
	}
}

// flat reports whether all blocks are Euclidean.
func flat(blocks []framework.Block) bool {
	for _, b := range blocks {
		if b.Dim() < b.Size() {
			return false
		}
	}
	return true
}

// lacks names the capability that a problem lacks for proximal steps.
func lacks(p framework.Problem) string {
	if _, ok := framework.As[Composite](p); !ok {
		return "a proximal map (a proximal.Sum)"
	}
	for _, b := range p.Blocks() {
		if _, ok := b.Manifold.(framework.Metric); ok {
			return fmt.Sprintf("the inner product of the surrounding space in block %s", b.Name)
		}
	}
	return ""
}
