package framework

import (
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

// reassign begins anew from a better place that a [Reassigner] finds.
func (r *run) reassign() (bool, error) {
	p, ok := r.evaluator.problem.(Reassigner)
	if !ok {
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
	return r.restart(x, minGain*math.Abs(r.best))
}
