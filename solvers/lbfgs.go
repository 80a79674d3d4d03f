package solvers

import (
	"cmp"
	"math"

	"github.com/scqm/scqm/framework"
)

// LBFGS is the limited-memory BFGS method on all blocks at once, a product of
// manifolds. With g the Riemannian gradient and pairs
//
//	s = x+ - x,  y = g+ - g
//
// of the last iterations, the direction is -P H g. H is the BFGS matrix made of the pairs and of gamma H0 by the
// two-loop recursion, and P projects onto the tangent space. The pairs stay in the surrounding space: H is positive
// definite there for any pairs with <s,y> > 0, so that -P H g is a descent direction without a vector transport. For
// blocks with their own metric, the pairs are transported instead.
//
// H0 is the preconditioner of the problem, or the identity without one, and gamma = <s,y> / <y,H0 y> of the newest
// pair. The step t satisfies the weak Wolfe conditions
//
//	F(R(t d)) <= F + C1 t <g,d>,  <g(t), d> >= C2 <g,d>
//
// With a preconditioner, it is found by bisection and doubling, which needs no smoothness. Without one, when first
// steps are often much too long, it is found by interpolation. If costs agree up to rounding, the slopes alone decide
// (the approximate conditions of Hager and Zhang). If the problem is a [framework.Certifier], the first step is the
// one after which a linear cost would vanish, otherwise it has unit length.
//
// If the problem and its manifolds have second derivatives, but no preconditioner, some steps are truncated Newton
// steps: by conjugate gradients with H as their preconditioner. One is tried from time to time. More follow as long
// as they lower the logarithm of the gradient norm by more per pass than the quasi-Newton steps before (enriched
// methods, Morales and Nocedal). Without second derivatives and without a [framework.Certifier], differences of
// gradients are used after 200 passes.
//
// Sources: J. Nocedal, Updating quasi-Newton matrices with limited storage,
// Math. Comp. 35 (1980); A. S. Lewis and M. L. Overton, Nonsmooth optimization
// via quasi-Newton methods, Math. Program. 141 (2013); W. W. Hager and H. Zhang,
// A new conjugate gradient method with guaranteed descent and an efficient line
// search, SIAM J. Optim. 16 (2005); W. Huang, K. A. Gallivan
// and P.-A. Absil, A Broyden class of quasi-Newton methods for Riemannian
// optimization, SIAM J. Optim. 25 (2015); J. L. Morales and J. Nocedal, Enriched
// methods for large-scale unconstrained optimization, Comput. Optim. Appl. 21 (2002).
//
// The zero value is ready to use.
type LBFGS struct {
	// Memory is the number of pairs kept; 0 stands for 20.
	Memory int
	// Search chooses the steps; nil stands for [HagerZhang]. Steps should satisfy a Wolfe
	// condition, or pairs are dropped.
	Search framework.LineSearch
	// FirstOrder ignores the second derivatives of the problem.
	FirstOrder bool
}

// defaultPairs is Memory where it is 0.
const defaultPairs = 20

// Name returns "lbfgs".
func (LBFGS) Name() string { return "lbfgs" }

// NewState returns an empty state for a stored run.
func (LBFGS) NewState() framework.State { return &LBFGSState{} }

// LBFGSState is the state of a run of [LBFGS].
type LBFGSState struct {
	Descent
	// S and Y are the pairs, oldest first, and Curvatures their <s,y>.
	S, Y       []framework.Point
	Curvatures []float64
	// Newton decides when Newton steps are worth their passes.
	Newton NewtonPlan

	alpha []float64
	model truncated
}

func (a LBFGS) withDefaults() LBFGS {
	a.Memory = cmp.Or(a.Memory, defaultPairs)
	return a
}

// Init evaluates the start and its gradient.
func (a LBFGS) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	if err := notNegative(a.Name(), "Memory", a.Memory); err != nil {
		return nil, err
	}
	s := &LBFGSState{Newton: NewtonPlan{Wait: firstWait, Most: leastProducts}}
	if !e.HasHessian() {
		s.Newton.Wait = differenceWait
	}
	return s, s.start(e, x, a.takesNewtonSteps(e))
}

// Step does one line search along the quasi-Newton direction. If it fails, it discards the pairs, then the
// preconditioner.
func (a LBFGS) Step(e *framework.Evaluator, state framework.State) error {
	a = a.withDefaults()
	s := state.(*LBFGSState)
	s.prepare(e)
	if _, err := s.refresh(e); err != nil {
		return err
	}
	moved, err := a.enriched(e, s)
	if err != nil || moved {
		return err
	}
	if len(s.S) > 0 {
		s.forget()
		s.Age = math.MaxInt // rebuild the preconditioner, which may be the cause
		if _, err := s.refresh(e); err != nil {
			return err
		}
		if moved, err = a.advance(e, s); err != nil || moved {
			return err
		}
	}
	if s.Anchor == nil {
		return framework.ErrNoProgress
	}
	s.Anchor = nil
	moved, err = a.advance(e, s)
	if err == nil && !moved {
		err = framework.ErrNoProgress
	}
	return err
}

// advance searches along the quasi-Newton direction and reports whether it moved.
func (a LBFGS) advance(e *framework.Evaluator, s *LBFGSState) (bool, error) {
	s.quasiNewton(e, s.dir, s.Grad)
	return a.search(e, s, false)
}

// search searches along dir and reports whether it moved; newton reports that dir is a Newton step, whose natural
// length is 1.
func (a LBFGS) search(e *framework.Evaluator, s *LBFGSState, newton bool) (bool, error) {
	slope := inner(e.Blocks(), s.X, s.Grad, s.dir)
	if !(slope < 0) || math.IsInf(slope, 0) {
		return false, nil
	}
	first, guess := 1.0, s.Anchor == nil && !newton && len(s.S) == 0
	if guess {
		first = unscaledStep(e, s.Cost, slope)
	}
	found, err := s.line.find(e, searchFor(e, a.Search, s.Anchor == nil, guess), s.X, s.Cost, slope, first)
	if err != nil || !found {
		return false, err
	}
	s.push(e.Blocks(), a.Memory)
	s.take()
	return true, nil
}
