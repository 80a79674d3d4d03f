package solvers

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// ConjugateGradient is the nonlinear conjugate gradient method on all blocks at
// once. With g the Riemannian gradient, z = P H g where the problem has
// a preconditioner H and else z = g, and transports T to the new point, the
// direction is
//
//	d+ = -z+ + beta T d,  beta = max(0, min(HS, DY)),
//	HS = <z+, g+ - T g> / D,  DY = <z+, g+> / D,  D = <g+, T d> - <g, d>,
//
// the hybrid of Hestenes and Stiefel's and Dai and Yuan's formulas. Steps satisfy
// the Wolfe conditions with interpolated slopes, by costs or, where rounding hides
// their differences, by slopes alone (Hager and Zhang). The first trial changes the
// cost as much as the last step did to first order. A direction that does not descend
// is replaced by -z.
//
// It keeps four vectors where [LBFGS] keeps twice its memory: for points too large
// for that.
//
// Sources: Y. H. Dai and Y. Yuan, An efficient hybrid conjugate gradient method for
// unconstrained optimization, Ann. Oper. Res. 103 (2001); W. W. Hager and H. Zhang, A
// new conjugate gradient method with guaranteed descent and an efficient line search,
// SIAM J. Optim. 16 (2005); H. Sato, Riemannian conjugate gradient methods, SIAM J.
// Optim. 32 (2022).
//
// The zero value is ready to use.
type ConjugateGradient struct {
	// Search chooses the steps; nil stands for [HagerZhang] with C2 = .4.
	Search framework.LineSearch
	// RefreshEvery is the number of iterations after which the preconditioner
	// is built anew; 0 stands for 10.
	RefreshEvery int
	// Plain ignores the preconditioner of the problem.
	Plain bool
}

// Name returns "cg".
func (ConjugateGradient) Name() string { return "cg" }

// NewState returns an empty state for a stored run.
func (ConjugateGradient) NewState() framework.State { return &ConjugateGradientState{} }

// ConjugateGradientState is the state of a run of [ConjugateGradient].
type ConjugateGradientState struct {
	X    framework.Point
	Cost float64
	// Grad is the Riemannian gradient at X, Dir the next direction; nil before
	// the first step.
	Grad, Dir framework.Point
	// Change is the last step times the slope it began with, 0 where there was
	// none.
	Change float64
	// Anchor is the point at which the preconditioner that the problem holds was
	// built, nil without one, and Age the number of iterations since then.
	Anchor framework.Point
	Age    int

	line
	z, moved framework.Point
}

// Iterate returns the current point and its cost.
func (s *ConjugateGradientState) Iterate() (framework.Point, float64) { return s.X, s.Cost }

// Gradient returns the Riemannian gradient at the iterate.
func (s *ConjugateGradientState) Gradient() framework.Point { return s.Grad }

// Resume builds the preconditioner of a stored run again.
func (s *ConjugateGradientState) Resume(e *framework.Evaluator) error {
	if s.Anchor == nil {
		return nil
	}
	_, err := e.BuildPreconditioner(s.Anchor)
	return err
}

func (a ConjugateGradient) withDefaults() ConjugateGradient {
	if a.Search == nil {
		a.Search = HagerZhang{C2: 0.4}
	}
	if a.RefreshEvery == 0 {
		a.RefreshEvery = 10
	}
	return a
}

// Init evaluates the start and its gradient.
func (a ConjugateGradient) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	if err := notNegative(a.Name(), "RefreshEvery", a.RefreshEvery); err != nil {
		return nil, err
	}
	s := &ConjugateGradientState{X: x, Grad: framework.NewPoint(e.Blocks())}
	cost, err := e.Evaluate(s.Grad, x)
	if err != nil {
		return nil, err
	}
	s.Cost = cost
	framework.Product(e.Blocks()).Gradient(s.Grad, x, s.Grad)
	return s, nil
}

// Step does one line search. Where that fails, it does another along -z, then
// without the preconditioner.
func (a ConjugateGradient) Step(e *framework.Evaluator, state framework.State) error {
	a = a.withDefaults()
	s := state.(*ConjugateGradientState)
	s.allocate(e.Blocks())
	if s.z == nil {
		s.z, s.moved = framework.NewPoint(e.Blocks()), framework.NewPoint(e.Blocks())
	}
	if err := a.refresh(e, s); err != nil {
		return err
	}
	if s.Dir != nil {
		if moved, err := a.advance(e, s); err != nil || moved {
			return err
		}
	}
	s.restart(e)
	moved, err := a.advance(e, s)
	if err != nil || moved {
		return err
	}
	if s.Anchor == nil {
		return framework.ErrNoProgress
	}
	s.Anchor = nil
	s.restart(e)
	if moved, err = a.advance(e, s); err == nil && !moved {
		err = framework.ErrNoProgress
	}
	return err
}

// refresh rebuilds the preconditioner if it is missing or too old.
func (a ConjugateGradient) refresh(e *framework.Evaluator, s *ConjugateGradientState) error {
	if a.Plain || s.Anchor != nil && s.Age < a.RefreshEvery {
		return nil
	}
	ok, err := e.BuildPreconditioner(s.X)
	if err != nil || !ok {
		return err
	}
	s.Anchor, s.Age = s.X.Clone(), 0
	s.Dir = nil // conjugate in another metric
	return nil
}

// restart restarts along -z.
func (s *ConjugateGradientState) restart(e *framework.Evaluator) {
	if s.Dir == nil {
		s.Dir = framework.NewPoint(e.Blocks())
	}
	s.precondition(e, s.X, s.Grad)
	negate(s.Dir, s.z)
	if s.Anchor != nil {
		s.Change = 0
	}
}

// precondition writes P H g into z, for the gradient g at x.
func (s *ConjugateGradientState) precondition(e *framework.Evaluator, x, g framework.Point) {
	if s.Anchor == nil {
		s.z.CopyFrom(g)
		return
	}
	e.Precondition(s.z, g)
	for k, b := range e.Blocks() {
		b.Project(s.z[k], x[k], s.z[k])
	}
}

// advance searches along Dir and reports whether it moved.
func (a ConjugateGradient) advance(e *framework.Evaluator, s *ConjugateGradientState) (bool, error) {
	blocks := e.Blocks()
	slope := inner(blocks, s.X, s.Grad, s.Dir)
	if !(slope < 0) || math.IsInf(slope, 0) {
		return false, nil
	}
	s.dir.CopyFrom(s.Dir)
	first, guess := s.Change/slope, false
	switch {
	case first > 0:
	case s.Anchor != nil:
		first = 1
	default:
		first, guess = unscaledStep(e, s.Cost, slope), true
	}
	found, err := s.line.find(e, searchFor(e, a.Search, true, guess), s.X, s.Cost, slope, first)
	if err != nil || !found {
		return false, err
	}
	s.turn(e, slope)
	s.Change = s.trial.step * slope
	s.X, s.trial.x = s.trial.x, s.X
	s.Grad, s.trial.grad = s.trial.grad, s.Grad
	s.Cost = s.trial.cost
	s.Age++
	return true, nil
}

// turn computes the next direction at the trial, given the slope along the last one.
func (s *ConjugateGradientState) turn(e *framework.Evaluator, slope float64) {
	blocks, x, g := e.Blocks(), s.trial.x, s.trial.grad
	s.precondition(e, x, g)
	var along, overlap float64 // <g+, T d> and <z+, T g>
	for k, b := range blocks {
		b.Transport(s.moved[k], s.X[k], x[k], s.Grad[k])
		overlap += b.Inner(x[k], s.z[k], s.moved[k])
		b.Transport(s.moved[k], s.X[k], x[k], s.Dir[k])
		along += b.Inner(x[k], g[k], s.moved[k])
	}
	square := inner(blocks, x, s.z, g)
	beta := 0.0
	if d := along - slope; d > 0 {
		beta = math.Max(0, math.Min(square-overlap, square)/d)
	}
	for k := range s.Dir {
		floats.ScaleTo(s.Dir[k], beta, s.moved[k])
	}
	addScaled(s.Dir, -1, s.z)
}
