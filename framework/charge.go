package framework

import "math"

// wholeRounding is the rounding error of a sum of fractions that make up a whole.
const wholeRounding = 1e-9

// Charge runs work that has no method of the evaluator, such as a proximal map, under the rules of an evaluation.
// Beyond the budget or when the context is done it refuses, with an error that a solver must return. A panic becomes
// an error that wraps [ErrPanic]. The work counts as the given number of passes, and of evaluations: 1 is the work of
// a cost, and fractions add up. Work of 0 passes is free.
func (e *Evaluator) Charge(passes float64, work func() error) error {
	whole := e.whole(passes)
	if err := e.admit(whole); err != nil {
		return err
	}
	e.Count(passes, passes)
	if whole > 0 {
		e.trial.See()
	}
	if err := guard(work); err != nil {
		return e.failure(err)
	}
	return nil
}

// ChargeCost is [Evaluator.Charge] for work that computes a cost and returns the passes it took. It counts as one
// evaluation. A cost that is not finite is treated as by Evaluate.
func (e *Evaluator) ChargeCost(work func() (cost, passes float64, err error)) (cost float64, err error) {
	if err := e.admit(1); err != nil {
		return math.Inf(1), err
	}
	e.lastValid = false
	var passes float64
	e.trial.See()
	if err := guard(func() (err error) { cost, passes, err = work(); return err }); err != nil {
		return math.Inf(1), e.failure(err)
	}
	e.Count(1, passes)
	return e.judgeCost(e.trial.Tell(cost))
}

// Count adds work that was done for the run outside of Charge.
func (e *Evaluator) Count(evaluations, passes float64) {
	e.lastValid = false
	whole := e.whole(evaluations)
	e.counts.Evaluations += whole
	e.counts.part += evaluations - float64(whole)
	e.counts.Passes += passes
}

// whole adds a fraction of an evaluation, and returns the number of whole evaluations that result.
func (e *Evaluator) whole(more float64) int {
	return int(math.Floor(e.counts.part + more + wholeRounding))
}
