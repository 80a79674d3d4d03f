package latent

import (
	"math"

	"github.com/scqm/scqm/framework"
)

// Sweeper is a problem whose blocks fall into outer and inner ones, such that
// one pass over its data both minimises over the inner blocks for given outer ones
// and finds the next outer blocks. Write F(y, t) for the cost at outer blocks y and
// inner blocks t.
type Sweeper interface {
	// OuterBlocks lists the outer blocks, in ascending order; all others are
	// inner. There are none where the problem, as it is set up, cannot sweep.
	OuterBlocks() []int
	// Sweep does one alternation from x = (y, t) and writes the result into
	// next = (y', t'), whose former content does not matter: t' with
	//
	//	F(y, t') <= F(y, t),
	//
	// best the minimum near t, and y' the minimiser of a function of y that is
	// nowhere below F(., t') and touches it at y, so that
	//
	//	F(y', t') <= F(y, t').
	//
	// It returns F(y, t'). Where next equals x, the gradient of F is zero.
	Sweep(next, x framework.Point) (float64, error)
}

// Equivariant is a solver that sees points only through sums, multiples, inner
// products and the maps that a problem offers: when the coordinates of a
// problem are turned by an orthogonal matrix, its iterates turn with them.
// Where a problem does not change under such a turn but for a subspace, it may
// then be solved within the subspace.
type Equivariant interface {
	// Equivariant reports whether the solver, with its settings, is of this
	// kind.
	Equivariant() bool
}

// OuterBlocks lists the outer blocks of a problem that can sweep; none where
// it cannot.
func OuterBlocks(e *framework.Evaluator) []int {
	if p, ok := framework.As[Sweeper](e.Problem()); ok {
		return p.OuterBlocks()
	}
	return nil
}

// Sweep does one alternation of a problem for which OuterBlocks is not empty;
// see [Sweeper]. It counts as one evaluation and two passes. Costs that are not
// finite are treated as by Evaluate, and so is one from which the point that it leads
// to is not finite: nothing can go on from there.
func Sweep(e *framework.Evaluator, next, x framework.Point) (float64, error) {
	p, _ := framework.As[Sweeper](e.Problem())
	return e.ChargeCost(func() (cost, passes float64, err error) {
		if cost, err = p.Sweep(next, x); err == nil && !next.Finite() {
			cost = math.NaN()
		}
		return cost, 2, err
	})
}
