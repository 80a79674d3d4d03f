package solvers

import (
	"cmp"
	"errors"
	"math"

	"github.com/scqm/scqm/framework"
)

// Newton takes over after slowIterations in a row with a relative decrease of the
// cost of no more than slowDecrease: its iterations are ten to thirty times as expensive.
const slowDecrease, slowIterations = 1e-6, 300

// stepSmooth does one iteration of the inner solver on a cost without kinks, and of
// [Newton] once that has become slow, or gets no further and is not stationary, where its
// systems are small. Iterations that come to rest are left to end: Newton's method takes as long for a few of its
// own, and ends where they do.
func (a Continuation) stepSmooth(e *framework.Evaluator, s *ContinuationState) error {
	if s.Second {
		return Newton{}.Step(e, s.Inner)
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

// handedWork bounds the products of an iteration of Newton in place of another
// solver.
const handedWork = 1 << 26

// HandsOver reports whether [Newton] may take the place of the inner solver on a
// problem of the shape given.
func (a Continuation) HandsOver(shape framework.ArrowheadShape) bool {
	_, newton := a.Inner.(Newton)
	return a.Finish && !newton && shape.Outer*shape.Outer <= handedWork/shape.Inner()
}

// handsOver reports whether Newton may take the place of the inner solver.
func (a Continuation) handsOver(e *framework.Evaluator) bool {
	shape, fits := e.ArrowheadShape()
	return fits && a.HandsOver(shape)
}

// Successor implements [framework.Succeeded].
func (s *ContinuationState) Successor() string {
	switch {
	case s.Finish != nil:
		return PrimalDual{}.Name()
	case s.Second:
		return Newton{}.Name()
	}
	return ""
}

// second lets Newton go on from x.
func (s *ContinuationState) second(e *framework.Evaluator, x framework.Point) error {
	state, err := inValleys.Init(e, x.Clone())
	if errors.Is(err, framework.ErrNonFinite) { // on a kink
		return framework.ErrNoProgress
	}
	if err != nil {
		return err
	}
	s.Inner, s.Second = state, true
	return nil
}
