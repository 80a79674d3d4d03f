package solvers

import (
	"cmp"
	"errors"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

// Newton takes over after slowIterations consecutive iterations with a relative decrease of at most
// slowDecrease: its iterations cost ten to thirty times as much.
const slowDecrease, slowIterations = 1e-6, 300

// stepSmooth does one iteration on a cost without kinks: of the inner solver, or of [Newton] once that has
// become slow, or is stuck at a point that is not stationary, where the Newton systems are small. It does not
// replace a solver that is about to converge: Newton's method would take as long for a few iterations, and end
// at the same point.
func (a Continuation) stepSmooth(e *framework.Evaluator, s *ContinuationState) error {
	switch {
	case s.Second:
		return Newton{}.Step(e, s.Inner)
	case s.Region:
		return TrustRegion{}.Step(e, s.Inner)
	case a.crawls(e, s):
		x, _ := s.Inner.Iterate()
		state, err := TrustRegion{}.Init(e, x.Clone())
		if err != nil {
			return err
		}
		s.Inner, s.Region = state, true
		return TrustRegion{}.Step(e, s.Inner)
	}
	_, before := s.Inner.Iterate()
	err := a.Inner.Step(e, s.Inner)
	stuck := errors.Is(err, framework.ErrNoProgress)
	if err != nil && !stuck {
		return err
	}
	x, cost := s.Inner.Iterate()
	s.Slow++
	if before-cost > slowDecrease*math.Abs(before) {
		s.Slow = 0
	}
	if !stuck && s.Slow < slowIterations || !a.handsOver(e) {
		return err
	}
	if stuck {
		if residual, failure := e.Stationarity(x); failure != nil || residual <= stationaryAt {
			return cmp.Or(failure, err)
		}
	}
	return s.second(e, x)
}

// crawlIterations is the number of iterations in which [LBFGS] is to lower the norm of the gradient to a
// crawlFall of it; else it crawls.
const crawlIterations, crawlFall = 300, 0.1

// crawls reports, every crawlIterations, whether [TrustRegion] is to replace [LBFGS]: on smooth costs without
// a measure of their own.
func (a Continuation) crawls(e *framework.Evaluator, s *ContinuationState) bool {
	inner, ok := s.Inner.(*LBFGSState)
	if !ok || inner.Euclidean == nil || !a.Finish {
		return false
	}
	if s.Watch++; s.Watch%crawlIterations != 0 {
		return false
	}
	before := s.Watched
	s.Watched = inner.norm(e.Blocks())
	return before > 0 && s.Watched > crawlFall*before
}

// handedWork bounds the products of a Newton iteration that replaces another solver's.
const handedWork = 1 << 26

// HandsOver reports whether [Newton] may replace the inner solver on a problem of this shape.
func (a Continuation) HandsOver(shape latent.ArrowheadShape) bool {
	_, newton := a.Inner.(Newton)
	return a.Finish && !newton && shape.Outer*shape.Outer <= handedWork/shape.Inner()
}

// handsOver reports whether Newton may replace the inner solver.
func (a Continuation) handsOver(e *framework.Evaluator) bool {
	shape, fits := latent.ShapeOf(e)
	return fits && a.HandsOver(shape)
}

// Successor implements [framework.State].
func (s *ContinuationState) Successor() string {
	switch {
	case s.Finish != nil:
		return PrimalDual{}.Name()
	case s.Second:
		return Newton{}.Name()
	case s.Region:
		return TrustRegion{}.Name()
	}
	return ""
}

// second starts Newton at x in place of the inner solver.
func (s *ContinuationState) second(e *framework.Evaluator, x framework.Point) error {
	state, err := Newton{}.Init(e, x.Clone())
	if errors.Is(err, framework.ErrNonFinite) { // on a kink
		return framework.ErrNoProgress
	}
	if err != nil {
		return err
	}
	s.Inner, s.Second = state, true
	return nil
}

// Gradient returns the gradient of the inner solver where that minimises the unsmoothed cost and provides one,
// else nil.
func (s *ContinuationState) Gradient() framework.Point {
	if s.Eps != 0 || s.Inner == nil {
		return nil
	}
	if g, ok := s.Inner.(interface{ Gradient() framework.Point }); ok {
		return g.Gradient()
	}
	return nil
}
