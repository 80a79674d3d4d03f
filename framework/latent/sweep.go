package latent

import (
	"math"

	"github.com/scqm/scqm/framework"
)

// Sweeper is a problem with outer and inner blocks. One pass over its data minimises over the inner blocks for given
// outer ones, and also finds the next outer blocks. Write F(y, t) for the cost at outer blocks y and inner blocks t.
type Sweeper interface {
	// OuterBlocks lists the outer blocks, in ascending order; all others are inner. The list is empty if the problem,
	// with its settings, cannot sweep.
	OuterBlocks() []int
	// Sweep does one alternation from x = (y, t). It overwrites next by the result (y', t'). t' satisfies
	//
	//	F(y, t') <= F(y, t),
	//
	// and is best the minimum near t. y' minimises a function of y that is nowhere below F(., t') and equals it at y,
	// so that
	//
	//	F(y', t') <= F(y, t').
	//
	// It returns F(y, t'). If next equals x, the gradient of F is zero.
	Sweep(next, x framework.Point) (float64, error)
}

// Equivariant is a solver that uses points only through sums, multiples, inner products and the maps of a problem. If
// the coordinates of a problem are rotated by an orthogonal matrix, its iterates rotate with them. A problem that
// such a rotation only changes within a subspace may then be solved within the subspace.
type Equivariant interface {
	// Equivariant reports whether the solver, with its settings, is of this kind.
	Equivariant() bool
}

// OuterBlocks lists the outer blocks of a problem that can sweep; it is empty for other problems.
func OuterBlocks(e *framework.Evaluator) []int {
	if p, ok := framework.As[Sweeper](e.Problem()); ok {
		return p.OuterBlocks()
	}
	return nil
}

// Sweep does one alternation of a problem for which OuterBlocks is not empty; see [Sweeper]. It counts as one
// evaluation and two passes. Costs that are not finite are treated as by Evaluate. So is a cost from which the sweep
// leads to a point that is not finite, as no run can continue there.
func Sweep(e *framework.Evaluator, next, x framework.Point) (float64, error) {
	p, _ := framework.As[Sweeper](e.Problem())
	return e.ChargeCost(func() (cost, passes float64, err error) {
		if cost, err = p.Sweep(next, x); err == nil && !next.Finite() {
			cost = math.NaN()
		}
		return cost, 2, err
	})
}
