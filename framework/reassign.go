package framework

import (
	"errors"
	"fmt"
	"math"
)

// Reassigner is a problem that can see past the local minima of some of its
// variables, such as coordinates on a curve that comes near a row twice.
type Reassigner interface {
	// Reassign moves x, in place, to a point of lower cost, be it far away, if
	// it finds one, and reports whether it did; else it leaves x alone. It also
	// returns the work done, in passes (see [Counts]).
	Reassign(x Point) (moved bool, passes float64, err error)
}

// minGain is the relative decrease of the cost from which on a reassignment is
// worth more iterations.
const minGain = 1e-6

// reassign is the last attempt of a run that would end as converged or stalled:
// where the problem is a [Reassigner] and finds a better place, the solver
// starts again from there.
func (r *run) reassign() (bool, error) {
	p, ok := r.evaluator.problem.(Reassigner)
	if !ok || r.options.MaxIterations >= 0 && r.iteration >= r.options.MaxIterations {
		return false, nil
	}
	x := r.bestPoint.Clone()
	moved, passes, err := p.Reassign(x)
	r.evaluator.counts.Passes += passes
	r.evaluator.lastValid = false
	if err != nil {
		return false, r.evaluator.failure(fmt.Errorf("reassignment: %w", err))
	}
	if !moved {
		return false, nil
	}
	state, err := r.solver.Init(r.evaluator, x)
	if err != nil {
		return false, err
	}
	if _, cost := state.Iterate(); !(cost < r.best-minGain*math.Abs(r.best)) {
		return false, nil
	}
	r.state, r.slow, r.inStep = state, 0, false
	r.keepBest()
	return true, nil
}

// reconsider takes back the end of a run that can go on from elsewhere.
func (r *run) reconsider(status Status, done bool) (Status, bool, error) {
	if !done || status != Converged && status != Stalled {
		return status, done, nil
	}
	moved, err := r.reassign()
	if errors.Is(err, errStop) {
		return r.evaluator.stopped, true, nil
	}
	return status, !moved, err
}
