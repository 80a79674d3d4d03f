package solvers

import (
	"math"

	"github.com/scqm/scqm/framework"
)

// LBFGS is the limited-memory BFGS method on all blocks at once, a product of
// manifolds. With g the Riemannian gradient and pairs
//
//	s = x+ - x,  y = g+ - g
//
// of the last iterations, the direction is -P H g, where H is the BFGS matrix
// made of the pairs and of gamma H0 by the two-loop recursion, and P projects
// on the tangent space. The pairs stay in the surrounding space: H is positive
// definite there for any pairs with <s,y> > 0, so that -P H g descends without
// a vector transport. Blocks with a metric of their own have their parts of the
// pairs transported instead.
//
// H0 is the preconditioner of the problem where it has one, else the identity,
// and gamma = <s,y> / <y,H0 y> of the newest pair. The step t satisfies the weak Wolfe
// conditions
//
//	F(R(t d)) <= F + C1 t <g,d>,  <g(t), d> >= C2 <g,d>
//
// and is found by bisection and doubling, which needs no smoothness, or without
// a preconditioner, where steps are often much too long, by interpolation. Where costs
// agree up to rounding, the slopes alone decide (the approximate conditions of
// Hager and Zhang). The first step is that after which a linear cost would vanish,
// where the problem is a [framework.Certifier], else one of unit length.
//
// Where the problem and its manifolds have second derivatives, but no preconditioner,
// some steps are Newton steps, truncated: by conjugate gradients with the matrix H as
// their preconditioner. One is tried from time to time, and followed by more as long as
// they lower the cost or the logarithm of the gradient norm by more per pass than the
// quasi-Newton steps before (enriched methods, Morales and Nocedal). Where there are no second
// derivatives, and no [framework.Certifier], differences of gradients serve after 200 passes.
//
// Far from a minimum pairs are uninformative, and steps may be much too long. Without a
// preconditioner, after a search with two rejected trials, steps are those of a trust
// region where there are second derivatives, until one ends within it.
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
	// RefreshEvery is the number of iterations after which the preconditioner
	// is built anew; 0 stands for 10.
	RefreshEvery int
	// Plain ignores the preconditioner of the problem.
	Plain bool
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
	X    framework.Point
	Cost float64
	// Grad is the Riemannian gradient at X.
	Grad framework.Point
	// S and Y are the pairs, oldest first, and Curvatures their <s,y>.
	S, Y       []framework.Point
	Curvatures []float64
	// Anchor is the point at which the preconditioner that the problem holds was
	// built, nil without one, and Age the number of iterations since then.
	Anchor framework.Point
	Age    int

	// Euclidean is the gradient of the surrounding space at X, for products with the
	// Hessian; nil where there are none, or not yet.
	Euclidean framework.Point
	// Newton decides when Newton steps are worth their passes.
	Newton NewtonPlan
	// Length bounds the next step by the lengths of earlier ones.
	Length StepLength

	line
	alpha     []float64
	conjugate conjugate
}

// Iterate returns the current point and its cost.
func (s *LBFGSState) Iterate() (framework.Point, float64) { return s.X, s.Cost }

// Gradient returns the Riemannian gradient at the iterate.
func (s *LBFGSState) Gradient() framework.Point { return s.Grad }

func (a LBFGS) withDefaults() LBFGS {
	if a.Memory == 0 {
		a.Memory = defaultPairs
	}
	if a.RefreshEvery == 0 {
		a.RefreshEvery = 10
	}
	return a
}

// Init evaluates the start and its gradient.
func (a LBFGS) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	if err := notNegative(a.Name(), "Memory RefreshEvery", a.Memory, a.RefreshEvery); err != nil {
		return nil, err
	}
	s := &LBFGSState{X: x, Grad: framework.NewPoint(e.Blocks())}
	cost, err := e.Evaluate(s.Grad, x)
	if err != nil {
		return nil, err
	}
	s.Cost = cost
	if a.takesNewtonSteps(e) {
		s.Euclidean = s.Grad.Clone()
	}
	framework.Product(e.Blocks()).Gradient(s.Grad, x, s.Grad)
	return s, nil
}

// Step does one line search along the quasi-Newton direction. Where that fails,
// it forgets the pairs, then the preconditioner.
func (a LBFGS) Step(e *framework.Evaluator, state framework.State) error {
	a = a.withDefaults()
	s := state.(*LBFGSState)
	s.allocate(e.Blocks())
	if s.Euclidean != nil {
		s.keepEuclidean(e.Blocks())
	}
	if err := a.refresh(e, s); err != nil {
		return err
	}
	moved, err := a.enriched(e, s)
	if err != nil || moved {
		return err
	}
	if len(s.S) > 0 {
		s.forget()
		s.Age = math.MaxInt // rebuild the preconditioner, which may be the cause
		if err := a.refresh(e, s); err != nil {
			return err
		}
		if moved, err = a.advance(e, s, s.direction(e)); err != nil || moved {
			return err
		}
	}
	if s.Anchor == nil {
		return framework.ErrNoProgress
	}
	s.Anchor = nil
	moved, err = a.advance(e, s, s.direction(e))
	if err == nil && !moved {
		err = framework.ErrNoProgress
	}
	return err
}

// Resume builds the preconditioner of a stored run again.
func (s *LBFGSState) Resume(e *framework.Evaluator) error {
	if s.Anchor == nil {
		return nil
	}
	_, err := e.BuildPreconditioner(s.Anchor)
	return err
}

// refresh rebuilds the preconditioner if it is missing or too old.
func (a LBFGS) refresh(e *framework.Evaluator, s *LBFGSState) error {
	if a.Plain {
		return nil
	}
	if s.Anchor != nil && s.Age < a.RefreshEvery {
		return nil
	}
	ok, err := e.BuildPreconditioner(s.X)
	if err != nil || !ok {
		return err
	}
	if s.Anchor == nil {
		s.Anchor = s.X.Clone()
	}
	s.Anchor.CopyFrom(s.X)
	s.Age = 0
	return nil
}

// enriched does a quasi-Newton, Newton or trust-region step, whichever is due, and reports whether it moved.
func (a LBFGS) enriched(e *framework.Evaluator, s *LBFGSState) (bool, error) {
	before, passes := s.norm(e.Blocks()), e.Counts().Passes
	kind, slope, err := s.choose(e)
	if err != nil {
		return false, err
	}
	moved, err := a.search(e, s, slope, kind)
	s.Newton.Last = before
	switch {
	case err != nil || s.Euclidean == nil:
	case kind == regionStep:
		s.leaveRegion(moved)
	default:
		gained := progress{gradient: math.Log(before / s.norm(e.Blocks())), passes: e.Counts().Passes - passes}
		if moved {
			gained.cost = -s.trial.step * (slope + s.trial.slope) / 2
		}
		s.Newton.learn(kind, s.Length.Shortened, gained)
	}
	if err == nil && kind != quasiNewtonStep && !moved {
		return a.advance(e, s, s.direction(e))
	}
	return moved, err
}

// advance searches along the quasi-Newton direction dir, whose slope is given, and
// reports whether it moved.
func (a LBFGS) advance(e *framework.Evaluator, s *LBFGSState, slope float64) (bool, error) {
	return a.search(e, s, slope, quasiNewtonStep)
}

// search is advance for a direction of any kind.
func (a LBFGS) search(e *framework.Evaluator, s *LBFGSState, slope float64, kind stepKind) (bool, error) {
	if !(slope < 0) || math.IsInf(slope, 0) {
		return false, nil
	}
	first, guess := 1.0, s.Anchor == nil && kind == quasiNewtonStep && len(s.S) == 0
	if guess {
		first = unscaledStep(e, s.Cost, slope)
	}
	evaluations := e.Counts().Evaluations
	found, err := s.line.find(e, searchFor(e, a.Search, s.Anchor == nil, guess), s.X, s.Cost, slope, first)
	if err != nil || !found {
		return false, err
	}
	s.Length.learn(s.length(e.Blocks()), s.trial.step, first)
	if kind == quasiNewtonStep && s.Length.Shortened && e.Counts().Evaluations-evaluations > vainTrials {
		s.Length.Region, s.Length.Negative = s.Euclidean != nil && e.HasHessian(), false
	}
	s.push(e.Blocks(), a.Memory)
	s.Age++
	s.X, s.trial.x = s.trial.x, s.X
	s.Grad, s.trial.grad = s.trial.grad, s.Grad
	s.Cost = s.trial.cost
	if s.Euclidean != nil {
		s.Euclidean, s.trial.euclidean = s.trial.euclidean, s.Euclidean
	}
	return true, nil
}
