package solvers

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// ConjugateGradient is the nonlinear conjugate gradient method on all blocks at once. g is the Riemannian gradient,
// and z = P H g with the preconditioner H of the problem, or z = g without one. With transports T to the new point,
// the direction is
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
// It stores four vectors, while [LBFGS] stores twice its memory. Use it for points too large for LBFGS.
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
}

// Name returns "cg".
func (ConjugateGradient) Name() string { return "cg" }

// NewState returns an empty state for a stored run.
func (ConjugateGradient) NewState() framework.State { return &ConjugateGradientState{} }

// ConjugateGradientState is the state of a run of [ConjugateGradient].
type ConjugateGradientState struct {
	Descent
	// Dir is the next direction; nil before the first step.
	Dir framework.Point
	// Change is the last step times the slope it began with, 0 where there was
	// none.
	Change float64

	z, moved framework.Point
}

// Init evaluates the start and its gradient.
func (a ConjugateGradient) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	s := &ConjugateGradientState{}
	return s, s.start(e, x, false)
}

// Step does one line search. Where that fails, it does another along -z, then
// without the preconditioner.
func (a ConjugateGradient) Step(e *framework.Evaluator, state framework.State) error {
	if a.Search == nil {
		a.Search = HagerZhang{C2: 0.4}
	}
	s := state.(*ConjugateGradientState)
	s.prepare(e)
	if s.z == nil {
		s.z, s.moved = framework.NewPoint(e.Blocks()), framework.NewPoint(e.Blocks())
	}
	built, err := s.refresh(e)
	if err != nil {
		return err
	}
	if built {
		s.Dir = nil // conjugate in another metric
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

// restart restarts along -z.
func (s *ConjugateGradientState) restart(e *framework.Evaluator) {
	if s.Dir == nil {
		s.Dir = framework.NewPoint(e.Blocks())
	}
	s.precondition(e, s.z, s.X, s.Grad)
	negate(s.Dir, s.z)
	if s.Anchor != nil {
		s.Change = 0
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
	s.take()
	return true, nil
}

// turn computes the next direction at the trial, given the slope along the last one.
func (s *ConjugateGradientState) turn(e *framework.Evaluator, slope float64) {
	blocks, x, g := e.Blocks(), s.trial.x, s.trial.grad
	s.precondition(e, s.z, x, g)
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
