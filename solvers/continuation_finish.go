package solvers

import (
	"math"

	"github.com/scqm/scqm/framework"
)

// finishWork bounds the products that an iteration of the finish takes after other
// solvers than [Newton], whose iterations take as many.
const finishWork = 1 << 27

// Finishes reports whether [PrimalDual] may go on from the last stage, on a
// problem of the shape given.
func (a Continuation) Finishes(shape framework.ArrowheadShape) bool {
	if _, newton := a.Inner.(Newton); newton {
		return a.Finish
	}
	return a.Finish && shape.Outer*shape.Outer <= finishWork/shape.Inner()
}

// Refute tells of a finish that ended in a valley along which the cost still falls,
// although the gradient is small.
func (s *ContinuationState) Refute(framework.Point) (string, error) {
	if s.Finish != nil && s.Finish.Falls && !s.Finish.Stationary {
		return "the cost still falls along a flat valley: the data hardly determine the minimum", nil
	}
	return "", nil
}

// finish does one iteration of the finish, if there is one.
func (a Continuation) finish(e *framework.Evaluator, s *ContinuationState) error {
	if s.Finished {
		return a.goOn(e, s)
	}
	if s.Finish == nil {
		if moved, err := a.reassign(e, s); moved || err != nil {
			return err
		}
		begun, err := a.beginFinish(e, s)
		if err != nil {
			return err
		}
		if !begun {
			return a.withoutFinish(e, s)
		}
	}
	err := PrimalDual{}.Step(e, s.Finish)
	if err != nil || !s.Finish.Done {
		return err
	}
	if left, err := a.leavesKinks(e, s); left || err != nil {
		return err
	}
	if s.Finished = s.Finish.Stationary || s.Again || e.Differentiable(); s.Finished {
		return nil
	}
	s.X.CopyFrom(s.Finish.X)
	s.Cost, s.Multipliers, s.Finish = s.Finish.Cost, s.Finish.Multipliers, nil
	s.Stage, s.Iterations, s.Slow, s.Done, s.Again = 0, 0, 0, false, true
	defer e.Smooth(0)
	return a.begin(e, s, s.First, s.X)
}

// Before a finish stage k runs for k up to shortStage, and ends at relative decreases
// from shortFirst to shortLast.
const shortStage, shortFirst, shortLast = 3, 1e-5, 1e-6

// shortens reports whether a finish is to follow the first stages. All stages run
// where [Newton] does: there they cost less than the finish, and still find lower
// minima.
func (a Continuation) shortens(e *framework.Evaluator, s *ContinuationState) bool {
	_, newton := a.Inner.(Newton)
	if newton || s.Whole || s.Eps == 0 || s.Finished || a.lastStage() <= shortStage {
		return false
	}
	shape, fits := e.ArrowheadShape()
	return fits && a.Finishes(shape) && !e.Differentiable()
}

// shortened returns a with the stages before a finish.
func (a Continuation) shortened() Continuation {
	a.Last = math.Pow(a.Factor, shortStage)
	a.FirstTolerance, a.LastTolerance = min(a.FirstTolerance, shortFirst), max(a.LastTolerance, shortLast)
	return a
}

// withoutFinish goes on where there is no finish: with the stages that are left.
func (a Continuation) withoutFinish(e *framework.Evaluator, s *ContinuationState) error {
	if left, err := a.leavesKinks(e, s); left || err != nil || s.Stage != shortStage || s.Whole {
		return err
	}
	residual, err := e.Stationarity(s.X)
	if err != nil || residual <= stationaryAt {
		return err
	}
	s.Whole, s.Done, s.Finished = true, false, false
	s.Stage, s.Iterations, s.Slow = s.Stage+1, 0, 0
	x, _ := s.Inner.Iterate()
	defer e.Smooth(0)
	return a.begin(e, s, s.Eps*a.Factor, x)
}

// maxReassigned bounds the number of times that rows are reassigned before the
// finish.
const maxReassigned = 20

// reassign begins the stages anew where rows have better places. The finish costs
// far more than the stages, so that it is worth while to have them in their places
// before.
func (a Continuation) reassign(e *framework.Evaluator, s *ContinuationState) (bool, error) {
	if s.Again || s.Reassigned >= maxReassigned {
		return false, nil
	}
	x, cost, err := reassigned(e, s.X, s.Cost)
	if x == nil || err != nil {
		return false, err
	}
	s.X.CopyFrom(x)
	s.Cost = cost
	s.Reassigned++
	s.Stage, s.Iterations, s.Slow, s.Done = 0, 0, 0, false
	if !s.Second && s.Reassigned >= oftenReassigned && e.Differentiable() && a.handsOver(e) {
		s.Inner, s.Second = nil, true
		a.Inner = inValleys
	}
	defer e.Smooth(0)
	return true, a.begin(e, s, s.First, s.X)
}

// oftenReassigned is the number of times that rows go over before [Newton] takes the place of the
// inner solver in the stages of a cost with a gradient, all of which run: solvers of first order come to no
// rest in them, and rows go over again.
const oftenReassigned = 2

// beginFinish begins the finish, if it is needed and possible.
func (a Continuation) beginFinish(e *framework.Evaluator, s *ContinuationState) (begun bool, err error) {
	if shape, fits := e.ArrowheadShape(); fits && a.Finishes(shape) {
		residual, err := e.Stationarity(s.X)
		if err != nil {
			return false, err
		}
		if !(residual <= stationaryAt) {
			finish, from := &PrimalDualState{X: s.X, Cost: s.Cost, Residual: math.Inf(1)}, s.X
			switch {
			case !s.Again && s.Stage == shortStage && a.shortens(e, s):
				from, _ = s.Inner.Iterate()
				finish.Eps = s.Eps
			case s.Again:
				finish.Last, finish.Multipliers = true, s.Multipliers
				if s.Inner != nil { // else the run has come to a kink at X
					from, _ = s.Inner.Iterate()
				}
			}
			if newton, ok := a.Inner.(Newton); ok {
				finish.Straight = newton.Straight
			}
			err := finish.begin(e, from)
			if err == nil && finish.Done && s.Again { // stages have left the kinks that the best point has
				err = finish.begin(e, s.X)
			}
			if err != nil {
				return false, err
			}
			if !finish.Done {
				s.Finish = finish
				return true, nil
			}
		}
	}
	s.Finished = true
	return false, nil
}

// maxReturns bounds the number of times that a run leaves kinks behind.
const maxReturns = 5

// leavesKinks reports whether the kinks that a run on the cost itself had come to are no
// longer near the end of the finish, and lets the inner solver go on with the cost.
func (a Continuation) leavesKinks(e *framework.Evaluator, s *ContinuationState) (bool, error) {
	x, cost := s.Iterate()
	if s.Returns >= maxReturns || s.Finish != nil && s.Finish.Stationary {
		return false, nil
	}
	if scale, err := e.SmoothingScale(x); err != nil || scale > 0 {
		return false, err
	}
	if n, _, err := e.DualScale(x); err != nil || n > 0 {
		return false, err
	}
	s.X.CopyFrom(x)
	s.Cost, s.Finish, s.Multipliers = cost, nil, nil
	s.Eps, s.Stage, s.Iterations, s.Slow, s.Done, s.Finished, s.Again = 0, 0, 0, 0, false, false, false
	s.Returns++
	e.SetMultipliers(nil)
	return true, a.restartInner(e, s, s.X)
}

// goOn does one iteration of the inner solver on the cost itself, where that is
// differentiable.
func (a Continuation) goOn(e *framework.Evaluator, s *ContinuationState) error {
	if !s.Plain {
		if !a.Finish || s.Finish != nil && s.Finish.Stationary || !e.Differentiable() {
			return framework.ErrNoProgress
		}
		if s.Finish != nil {
			s.X, s.Cost, s.Eps, s.Finish = s.Finish.X, s.Finish.Cost, s.Finish.Eps, nil
		}
		if a.handsOver(e) {
			if err := s.second(e, s.X); err != nil {
				return err
			}
		} else if err := a.restartInner(e, s, s.X); err != nil {
			return err
		}
		s.Plain = true
	}
	inner := a.Inner
	if s.Second {
		inner = Newton{}
	}
	if err := inner.Step(e, s.Inner); err != nil {
		return err
	}
	if x, cost := s.Inner.Iterate(); cost <= s.Cost {
		s.X.CopyFrom(x)
		s.Cost = cost
	}
	return nil
}
