// Package constrained minimises a cost on manifolds under constraints, using any solver of the framework.
//
// Begin with [Solve].
package constrained

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// Problem is a cost to be minimised subject to lower <= c(x) <= upper, for a vector of smooth functions c. Equal
// bounds give an equality; an infinite bound gives no constraint.
type Problem interface {
	framework.Problem
	// Bounds returns the bounds of the constraints, which do not change.
	Bounds() (lower, upper []float64)
	// Constraints writes c(x) into c.
	Constraints(c []float64, x framework.Point) error
	// AddTransposedProduct adds J'w to every grad[k] that is not nil, with the Jacobian
	// J of c at x, in the coordinates of Euclidean gradients: the sum of the gradients
	// of the c_i times w_i.
	AddTransposedProduct(grad, x framework.Point, w []float64) error
}

// Box is a problem with bounds on its unknowns, Lower <= x <= Upper, in addition to the constraints of the inner
// problem if that is a [Problem]. The bounds of the unknowns come first, block by block.
type Box struct {
	framework.Problem
	// Lower and Upper have the shape of a point, with entries that may be infinite; a
	// nil slice is no bound at all.
	Lower, Upper framework.Point
}

// each calls do for every entry with a bound, and returns the number of these entries.
func (b Box) each(do func(i, block, entry int, lower, upper float64)) int {
	bound := func(p framework.Point, k, j int, none float64) float64 {
		if k < len(p) && p[k] != nil {
			return p[k][j]
		}
		return none
	}
	i := 0
	for k, block := range b.Blocks() {
		for j := range block.Size() {
			l, u := bound(b.Lower, k, j, math.Inf(-1)), bound(b.Upper, k, j, math.Inf(1))
			if math.IsInf(l, -1) && math.IsInf(u, 1) {
				continue
			}
			do(i, k, j, l, u)
			i++
		}
	}
	return i
}

// Bounds returns the bounds of the unknowns, then the bounds of the inner problem.
func (b Box) Bounds() (lower, upper []float64) {
	b.each(func(_, _, _ int, l, u float64) { lower, upper = append(lower, l), append(upper, u) })
	if p, ok := framework.As[Problem](b.Problem); ok {
		l, u := p.Bounds()
		lower, upper = append(lower, l...), append(upper, u...)
	}
	return lower, upper
}

// Constraints writes the unknowns with bounds, then the constraints of the inner problem.
func (b Box) Constraints(c []float64, x framework.Point) error {
	n := b.each(func(i, block, entry int, _, _ float64) { c[i] = x[block][entry] })
	if p, ok := framework.As[Problem](b.Problem); ok {
		return p.Constraints(c[n:], x)
	}
	return nil
}

// AddTransposedProduct adds the weights to the gradients.
func (b Box) AddTransposedProduct(grad, x framework.Point, w []float64) error {
	n := b.each(func(i, block, entry int, _, _ float64) {
		if grad[block] != nil {
			grad[block][entry] += w[i]
		}
	})
	if p, ok := framework.As[Problem](b.Problem); ok {
		return p.AddTransposedProduct(grad, x, w[n:])
	}
	return nil
}

// Lagrangian is the augmented Lagrangian of a problem,
//
//	f(x) + sum_i r_i/2 (s_i - P(s_i))^2,  s_i = c_i(x) + y_i/r_i,  r_i = r / u_i^2,
//
// with the projection P on the bounds, multipliers y, a penalty r and the units u of the constraints. It is a
// problem without constraints. Its gradient is the gradient of f + c'z, with z_i = r_i (s_i - P(s_i)) held fixed.
type Lagrangian struct {
	Problem
	// Multipliers are y, Units are u > 0, and Penalty is r > 0.
	Multipliers, Units []float64
	Penalty            float64

	lower, upper, c, weights []float64
}

// NewLagrangian returns the augmented Lagrangian with multipliers 0 and units 1. It fails where a
// lower bound is above an upper one, or one is NaN.
func NewLagrangian(p Problem, penalty float64) (*Lagrangian, error) {
	l := &Lagrangian{Problem: p, Penalty: penalty}
	l.lower, l.upper = p.Bounds()
	n := len(l.lower)
	if len(l.upper) != n {
		return nil, fmt.Errorf("constrained: %d lower and %d upper bounds: %w", n, len(l.upper), framework.ErrInvalid)
	}
	for i, low := range l.lower {
		if !(low <= l.upper[i]) || math.IsInf(low, 1) || math.IsInf(l.upper[i], -1) {
			return nil, fmt.Errorf("constrained: constraint %d has the bounds %g and %g; want the lower first: %w",
				i, low, l.upper[i], framework.ErrInvalid)
		}
	}
	l.Multipliers, l.Units, l.c, l.weights = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	floats.AddConst(1, l.Units)
	return l, nil
}

// Evaluate implements [framework.Problem].
func (l *Lagrangian) Evaluate(grad, x framework.Point) (float64, error) {
	cost, err := l.Problem.Evaluate(grad, x)
	if err != nil {
		return 0, err
	}
	term, err := l.weigh(x)
	if err != nil {
		return 0, err
	}
	if grad != nil {
		if err := l.AddTransposedProduct(grad, x, l.weights); err != nil {
			return 0, fmt.Errorf("product with the Jacobian of the constraints: %w", err)
		}
	}
	return cost + term, nil
}

// weigh writes the multipliers z of x into weights, and returns the terms that the constraints add to the cost.
func (l *Lagrangian) weigh(x framework.Point) (float64, error) {
	if err := l.Constraints(l.c, x); err != nil {
		return 0, fmt.Errorf("constraints: %w", err)
	}
	var sum float64
	for i, c := range l.c {
		r := l.penalty(i)
		s := c + l.Multipliers[i]/r
		// An inactive constraint has the weight 0; NaN stays NaN.
		off := s - math.Max(l.lower[i], math.Min(l.upper[i], s))
		l.weights[i] = r * off
		sum += l.weights[i] * off / 2
	}
	return sum, nil
}

func (l *Lagrangian) penalty(i int) float64 { return l.Penalty / (l.Units[i] * l.Units[i]) }

// violation is the largest distance of a constraint from its bounds at the point weighed last,
// in units where they are given, and +Inf where one is NaN.
func (l *Lagrangian) violation(units []float64) float64 {
	var worst float64
	for i, c := range l.c {
		d := math.Max(l.lower[i]-c, c-l.upper[i])
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		if units != nil {
			d /= units[i]
		}
		worst = math.Max(worst, d)
	}
	return worst
}
