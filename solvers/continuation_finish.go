package solvers

import (
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

// finishWork bounds the products of an iteration of the polish after solvers other than [Newton], whose
// iterations take as many.
const finishWork = 1 << 29

// Finishes reports whether [PrimalDual] may polish a problem of this shape.
func (a Continuation) Finishes(shape latent.ArrowheadShape) bool {
	if _, newton := a.Inner.(Newton); newton {
		return a.Finish
	}
	return a.Finish && shape.Outer*shape.Outer <= finishWork/shape.Inner()
}

// Refute reports a polish that ended in a valley along which the cost still falls, although the gradient is
// small.
func (s *ContinuationState) Refute(framework.Point) (string, error) {
	if s.Finish != nil && s.Finish.Falls && !s.Finish.Stationary {
		return "the cost still falls along a flat valley: the data hardly determine the minimum", nil
	}
	return "", nil
}

// finish does one iteration of the polish, if there is one.
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
			_, err := a.leavesKinks(e, s)
			return err
		}
	}
	err := PrimalDual{}.Step(e, s.Finish)
	if err != nil || !s.Finish.Done {
		return err
	}
	if left, err := a.leavesKinks(e, s); left || err != nil {
		return err
	}
	s.Stationary = s.Finish.Stationary
	if s.Finished = s.Stationary || s.Again || e.Differentiable(); s.Finished {
		return nil
	}
	s.X.CopyFrom(s.Finish.X)
	s.Cost, s.Multipliers, s.Finish = s.Finish.Cost, s.Finish.Multipliers, nil
	s.Stage, s.Iterations, s.Slow, s.Done, s.Again = 0, 0, 0, false, true
	defer e.Smooth(0)
	return a.begin(e, s, s.First, s.X)
}

// Before a polish the continuation has steps 0 to shortStage only, with tolerances from shortFirst to
// shortLast.
const shortStage, shortFirst, shortLast = 3, 1e-5, 1e-6

// shortens reports whether the polish follows the first steps. With [Newton] all steps run: there they cost
// less than the polish, and still find lower minima.
func (a Continuation) shortens(e *framework.Evaluator, s *ContinuationState) bool {
	_, newton := a.Inner.(Newton)
	if newton || s.Eps == 0 || s.Finished || a.lastStage() <= shortStage {
		return false
	}
	shape, fits := latent.ShapeOf(e)
	return fits && a.Finishes(shape) && !e.Differentiable()
}

// shortened returns a with the tolerances and the last step before a polish.
func (a Continuation) shortened() Continuation {
	a.Last = math.Pow(a.Factor, shortStage)
	a.FirstTolerance, a.LastTolerance = min(a.FirstTolerance, shortFirst), max(a.LastTolerance, shortLast)
	return a
}

// maxReassigned bounds the number of relocations of rows before the polish.
const maxReassigned = 20

// reassign restarts the continuation where relocating rows lowers the cost. It comes before the polish, which
// costs far more.
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
	defer e.Smooth(0)
	return true, a.begin(e, s, s.First, s.X)
}

// beginFinish begins the polish, if the point is not stationary and the problem allows it.
func (a Continuation) beginFinish(e *framework.Evaluator, s *ContinuationState) (begun bool, err error) {
	if shape, fits := latent.ShapeOf(e); fits && a.Finishes(shape) {
		residual, err := e.Stationarity(s.X)
		if err != nil {
			return false, err
		}
		if s.Stationary = residual <= stationaryAt; !s.Stationary {
			finish, from := &PrimalDualState{X: s.X, Cost: s.Cost, Residual: math.Inf(1)}, s.X
			switch {
			case !s.Again && s.Stage == shortStage && a.shortens(e, s):
				from, _ = s.Inner.Iterate()
				finish.Eps = s.Eps
			case s.Again:
				finish.Last, finish.Multipliers = true, s.Multipliers
				if s.Inner != nil { // nil after a run on the cost itself reached a kink at X
					from, _ = s.Inner.Iterate()
				}
			}
			err := finish.begin(e, from)
			if err == nil && finish.Done && s.Again { // the continuation has left the kinks of the best point
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

// maxReturns bounds the returns from a kink to the unsmoothed cost.
const maxReturns = 5

// leavesKinks reports whether the end of the polish is no longer near a kink, for a run on the cost itself that
// had reached one, and restarts the inner solver on that cost.
func (a Continuation) leavesKinks(e *framework.Evaluator, s *ContinuationState) (bool, error) {
	x, cost := s.Iterate()
	if s.Returns >= maxReturns || s.Finish != nil && s.Finish.Stationary {
		return false, nil
	}
	if scale, err := e.SmoothingScale(x); err != nil || scale > 0 {
		return false, err
	}
	if n, _, err := latent.DualScale(e, x); err != nil || n > 0 {
		return false, err
	}
	s.X.CopyFrom(x)
	s.Cost, s.Finish, s.Multipliers = cost, nil, nil
	s.Eps, s.Stage, s.Iterations, s.Slow, s.Done, s.Finished, s.Again = 0, 0, 0, 0, false, false, false
	s.Returns++
	latent.SetMultipliers(e, nil)
	return true, a.restartInner(e, s, s.X)
}

// goOn takes one step of the inner solver on the unsmoothed cost, or returns ErrNoProgress if that has no gradient.
func (a Continuation) goOn(e *framework.Evaluator, s *ContinuationState) error {
	if !s.Plain {
		if !a.Finish || s.Stationary || !e.Differentiable() {
			return framework.ErrNoProgress
		}
		if s.Finish != nil {
			s.X, s.Cost, s.Eps, s.Multipliers, s.Finish = s.Finish.X, s.Finish.Cost, s.Finish.Eps, s.Finish.Multipliers, nil
		}
		if err := a.restartInner(e, s, s.X); err != nil {
			return err
		}
		s.Plain = true
	}
	if err := a.Inner.Step(e, s.Inner); err != nil {
		return err
	}
	if x, cost := s.Inner.Iterate(); cost <= s.Cost {
		s.X.CopyFrom(x)
		s.Cost = cost
	}
	return nil
}

// reassigned returns x with rows relocated to nearer points and the cost there, where that justifies more
// iterations; else nil.
func reassigned(e *framework.Evaluator, x framework.Point, cost float64) (framework.Point, float64, error) {
	x = x.Clone()
	if moved, err := latent.Reassign(e, x); !moved || err != nil {
		return nil, 0, err
	}
	lower, err := e.Evaluate(nil, x)
	if err != nil || !latent.WorthReassigning(cost, lower) {
		return nil, 0, err
	}
	return x, lower, nil
}
