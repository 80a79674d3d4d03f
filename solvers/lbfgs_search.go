package solvers

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

const (
	// outsideShrink shortens a step that led out of the finite numbers.
	outsideShrink = 1. / 16
	// costNoise is the predicted decrease, relative to the cost, below which
	// the rounding of costs hides it and the slope decides alone.
	costNoise = 1e-13
)

// search looks for a step along dir that satisfies the weak Wolfe conditions
// and leaves the point in trial. Where only the first one could be met, it
// takes the longest such step.
//
// A problem that resumes is asked for the gradient of a trial only once its
// cost is low enough.
func (a LBFGS) search(e *framework.Evaluator, s *LBFGSState, slope, first float64) (bool, error) {
	_, resumes := e.Problem().(framework.Resumer)
	lo, hi, t := 0.0, math.Inf(1), first
	for range a.MaxTrials {
		ok, err := s.try(e, t, !resumes)
		if err != nil {
			return false, err
		}
		shrink := 0.5
		switch {
		case !ok:
			hi, shrink = t, outsideShrink
		case !a.low(s, t, slope):
			hi = t
		default:
			end, err := s.endSlope(e, resumes)
			if err != nil {
				return false, err
			}
			if end >= a.C2*slope {
				return true, nil
			}
			lo = t
			s.trial, s.kept = s.kept, s.trial
		}
		if t = lo + shrink*(hi-lo); math.IsInf(hi, 0) {
			t = 2 * lo
		}
		if !(t > lo && t < hi) {
			break
		}
	}
	s.trial, s.kept = s.kept, s.trial
	return lo > 0, nil
}

// low reports whether the cost of the trial at step t is low enough.
func (a LBFGS) low(s *LBFGSState, t, slope float64) bool {
	cost, predicted := s.trial.cost, -t*slope
	if predicted <= costNoise*math.Abs(s.Cost) {
		return cost <= s.Cost
	}
	return cost <= s.Cost-a.C1*predicted && cost < s.Cost
}

// try evaluates the trial at step t, with its gradient if asked to, and
// reports whether it is a point of finite cost.
func (s *LBFGSState) try(e *framework.Evaluator, t float64, gradient bool) (bool, error) {
	for k, b := range e.Blocks() {
		floats.ScaleTo(s.work[k], t, s.dir[k])
		if b.Retract(s.trial.x[k], s.X[k], s.work[k]) != nil {
			return false, nil
		}
	}
	s.trial.step = t
	var grad framework.Point
	if gradient {
		grad = s.trial.grad
	}
	cost, err := e.Evaluate(grad, s.trial.x)
	s.trial.cost = cost
	return err == nil && !math.IsInf(cost, 0), err
}

// endSlope computes the gradient at the trial and returns the slope along dir
// there.
func (s *LBFGSState) endSlope(e *framework.Evaluator, missing bool) (float64, error) {
	t := &s.trial
	if missing {
		if _, err := e.Gradient(t.grad, t.x); err != nil {
			return 0, err
		}
	}
	var slope float64
	for k, b := range e.Blocks() {
		b.Gradient(t.grad[k], t.x[k], t.grad[k])
		d := s.dir[k]
		if _, ok := b.Manifold.(framework.Metric); ok {
			d = s.work[k]
			b.Transport(d, s.X[k], t.x[k], s.dir[k])
		}
		slope += b.Inner(t.x[k], t.grad[k], d)
	}
	return slope, nil
}
