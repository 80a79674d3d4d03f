// Package solvers provides the algorithms that minimise a framework.Problem, one file each, and a registry of their
// names.
//
// Begin with [Auto], which chooses by the capabilities of the problem, and pass its result to framework.Solve.
package solvers

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

// init registers the solvers of this package. It is here so that Register and Supports, which solvers
// call, know none of them.
func init() {
	registry = []entry{
		{Description{"alternating", "accelerated sweeps, each of which minimises over tau and then over c, Q and Theta: l2, squared_l2, huber, mahalanobis"},
			func() framework.Solver { return Continuation{Inner: Alternating{}, Finish: true} }},
		{Description{"cg", "preconditioned Riemannian conjugate gradients, in the memory of four points, kinks rounded less and less; for any loss"},
			func() framework.Solver { return Continuation{Inner: ConjugateGradient{}, Finish: true} }},
		{Description{"lbfgs", "preconditioned Riemannian L-BFGS on all blocks at once, kinks rounded less and less; for any loss"},
			func() framework.Solver { return Continuation{Inner: LBFGS{}, Finish: true} }},
		{Description{"newton", "Newton's method with tau eliminated, kinks rounded less and less; for small D"},
			func() framework.Solver { return Continuation{Inner: Newton{}, Finish: true} }},
		{Description{"rgd", "blockwise Riemannian gradient descent with Armijo steps, one step size per row of tau (the paper's Algorithm 1, corrected)"},
			func() framework.Solver { return RGD{} }},
		{Description{"streaming", "fits block by block, for rows that need not be in memory: sweeps, newton or lbfgs, with tau eliminated, by sums over blocks alone; any loss, the same bits from a file"},
			func() framework.Solver { return Streaming{} }},
		{Description{"trust_region", "Riemannian trust regions by products with the Hessian, or differences of gradients, kinks rounded less and less; for gradients of 1e-8 and less"},
			func() framework.Solver { return Continuation{Inner: TrustRegion{}, Finish: true} }},
	}
}

const (
	// smallArrowhead is the number of entries coupling outer coordinates with rows up to which Newton's method is the
	// fastest. Beyond it, sweeps over the rows reach the same cost in less time, and in a tenth of the memory.
	smallArrowhead = 1 << 20
	// pairNumbers bounds the numbers in the pairs of L-BFGS, but at least leastPairs pairs are kept, with which
	// fits of many rows take no more iterations than with more.
	pairNumbers, leastPairs = 1 << 22, 5
)

// Auto chooses a solver by the capabilities of the problem and their cost, each with [Continuation]:
//
//   - [Newton] where its second derivatives are an arrowhead with a small outer
//     part, and few enough rows that the coupling has at most 2^20 entries,
//   - [Alternating] where sweeps are possible,
//   - [LBFGS] for all others, which takes second derivatives where they gain, with
//     fewer pairs than usual where points have more than 10^5 numbers.
func Auto(p framework.Problem) framework.Solver {
	if a, ok := framework.As[latent.ArrowheadHessian](p); ok {
		if shape, fits := a.ArrowheadShape(); fits && shape.Outer <= smallOuter && shape.Outer*shape.Inner() <= smallArrowhead {
			return Continuation{Inner: Newton{}, Finish: true}
		}
	}
	if s, ok := framework.As[latent.Sweeper](p); ok && len(s.OuterBlocks()) > 0 {
		return Continuation{Inner: Alternating{}, Finish: true}
	}
	size := 1
	if p != nil { // framework.Solve refuses what has no blocks
		size = max(framework.Product(p.Blocks()).Size(), 1)
	}
	if pairs := max(pairNumbers/2/size, leastPairs); pairs < defaultPairs {
		return Continuation{Inner: LBFGS{Memory: pairs}, Finish: true}
	}
	return Continuation{Inner: LBFGS{}, Finish: true}
}
