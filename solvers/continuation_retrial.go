package solvers

import (
	"errors"
	"math"

	"github.com/scqm/scqm/framework"
)

// maxRetrials bounds the number of times that all stages run again from a stationary end.
const maxRetrials = 3

// retried are the stages that run again.
var retried = Continuation{Inner: Newton{}, Finish: true}

// beginRetrial lets all stages run again from where the run has ended, if that is
// stationary and rows are in their places: the path to it may have left rows at places that
// were best for an earlier surface, and no small step brings them back.
func (a Continuation) beginRetrial(e *framework.Evaluator, s *ContinuationState) error {
	shape, fits := e.ArrowheadShape()
	if !a.Retrials || s.Retried >= maxRetrials || !fits || e.FirstOrder() || shape.Outer*shape.Outer > triedWork/shape.Inner() {
		return nil
	}
	x, cost := s.Iterate()
	residual, err := e.Stationarity(x)
	if err != nil || !(residual <= stationaryAt) {
		return err
	}
	if better, _, err := reassigned(e, x, cost); better != nil || err != nil { // the run sees to them
		return err
	}
	if others, err := othersNear(e, x); !others || err != nil {
		return err
	}
	again := &ContinuationState{Goal: cost - trialGain*math.Abs(cost)}
	if err := again.measure(e, x); err != nil || again.Eps == 0 {
		return err
	}
	again.X, again.Cost = x.Clone(), math.Inf(1) // as what is kept is lower than where stages lead
	s.Retried++
	s.Retrial, s.Finished = again, false
	return nil
}

// othersNear reports whether rows have other minima close to theirs, as the cost has kinks by
// entry or infinite second derivatives where an entry vanishes: 48 fits by the norm, which
// has none, ended where they were. Kinks count where the places of rows are distinct.
func othersNear(e *framework.Evaluator, x framework.Point) (bool, error) {
	if e.Differentiable() {
		return true, nil
	}
	list, err := e.Exchanges(x, 1)
	if len(list) == 0 || err != nil {
		return false, err
	}
	return e.Distinct(x)
}

// retry does one iteration of the stages that run again. Where they end stationary and lower,
// the run goes on from there.
func (a Continuation) retry(e *framework.Evaluator, s *ContinuationState) error {
	again := s.Retrial
	err := retried.Step(e, again)
	stuck := errors.Is(err, framework.ErrNoProgress)
	if err != nil && !stuck {
		return err
	}
	if !stuck && again.Pending() {
		return nil
	}
	s.Retrial, s.Finished = nil, true
	x, cost := again.Iterate()
	if cost < again.Goal {
		residual, err := e.Stationarity(x)
		if err != nil {
			return err
		}
		if residual <= stationaryAt {
			s.X.CopyFrom(x)
			s.Cost, s.Finish, s.Multipliers = cost, again.Finish, again.Multipliers
			return a.beginRetrial(e, s)
		}
	}
	s.keep(e)
	return nil
}

// keep lets the problem know again what the stationarity of the iterate is measured by.
func (s *ContinuationState) keep(e *framework.Evaluator) {
	eps, multipliers := s.Eps, s.Multipliers
	if s.Finish != nil {
		eps, multipliers = s.Finish.Eps, s.Finish.Multipliers
	}
	e.SetMultipliers(multipliers)
	e.Smooth(eps)
	e.Smooth(0)
}
