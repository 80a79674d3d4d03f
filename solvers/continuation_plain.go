package solvers

import (
	"math"

	"github.com/scqm/scqm/framework"
)

// slowDecrease is the relative decrease of the cost in judgeEvery iterations
// without rounding at which kinks are looked for, at which all solvers crawl, and
// crawlDecrease that at which solvers of first order give way to [Newton].
const slowDecrease, crawlDecrease = 1e-6, 1e-7

// stepPlain does an iteration on the cost itself. Where iterations gain little, a
// run that has come upon kinks is begun again with a rounded cost, and one by
// another solver than [Newton] goes on with that, if its systems are small and
// Finish says so.
func (a Continuation) stepPlain(e *framework.Evaluator, s *ContinuationState) error {
	if s.Polishing {
		return Newton{}.Step(e, s.Inner)
	}
	if err := a.Inner.Step(e, s.Inner); err != nil {
		return err
	}
	s.Iterations++
	if !a.Finish || s.Iterations%judgeEvery != 0 {
		return nil
	}
	_, cost := s.Inner.Iterate()
	before := s.Cost
	s.Cost = cost
	if s.Iterations == judgeEvery || before-cost > slowDecrease*math.Abs(cost) {
		return nil
	}
	if begun, err := a.beginTouched(e, s); begun || err != nil || before-cost > crawlDecrease*math.Abs(cost) {
		return err
	}
	return a.beginPolish(e, s)
}

// beginTouched begins the stages where some row has come upon a kink.
func (a Continuation) beginTouched(e *framework.Evaluator, s *ContinuationState) (bool, error) {
	x, cost := s.Inner.Iterate()
	n, scale, err := e.DualScale(x)
	if err != nil || n == 0 {
		return false, err
	}
	_, exponent := math.Frexp(scale)
	s.Eps = math.Ldexp(0.5, exponent)
	s.First, s.X, s.Cost, s.Inner = s.Eps, x.Clone(), cost, nil
	s.Stage, s.Iterations, s.Slow = 0, 0, 0
	return true, nil
}

// beginPolish hands the iterate to [Newton].
func (a Continuation) beginPolish(e *framework.Evaluator, s *ContinuationState) error {
	if _, newton := a.Inner.(Newton); newton {
		return nil
	}
	if shape, fits := e.ArrowheadShape(); !fits || !a.Finishes(shape) {
		return nil
	}
	x, _ := s.Inner.Iterate()
	inner, err := Newton{}.Init(e, x.Clone())
	if err == nil {
		s.Inner, s.Polishing = inner, true
	}
	return err
}
