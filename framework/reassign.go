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

// Reassign moves x, in place, to a point of lower cost that a [Reassigner] finds,
// be it far away, and reports whether it did. It does nothing where the run goes
// by the first order alone.
func (e *Evaluator) Reassign(x Point) (bool, error) {
	p, ok := e.problem.(Reassigner)
	if !ok || e.firstOrder {
		return false, nil
	}
	moved, passes, err := p.Reassign(x)
	e.counts.Passes += passes
	e.lastValid = false
	if err != nil {
		return false, e.failure(fmt.Errorf("reassignment: %w", err))
	}
	return moved, nil
}

// WorthReassigning reports whether a reassignment that took the cost from one
// value to another is worth more iterations.
func WorthReassigning(from, to float64) bool { return to < from-minGain*math.Abs(from) }

// reassignEvery is the least number of passes between two reassignments while they move
// rows: about as many as the blocks need to follow the rows. There are as many at least as the
// last one took, so that reassignments are at most half of the work.
const reassignEvery = 20

// reassign begins anew from a better place that a [Reassigner] finds.
func (r *run) reassign() (bool, error) {
	x, before := r.bestPoint.Clone(), r.evaluator.counts.Passes
	r.reassignDue = 0
	moved, err := r.evaluator.Reassign(x)
	if !moved || err != nil {
		return false, err
	}
	work := r.evaluator.counts.Passes - before
	moved, err = r.restart(x, minGain*math.Abs(r.best))
	if moved {
		r.reassignDue = r.evaluator.counts.Passes + max(reassignEvery, work)
	}
	return moved, err
}

// reassignAgain reassigns rows some time after the last reassignment, where that
// moved any: rows follow each other, and it is not worth while to wait until the
// solver is near a minimum that is left again.
func (r *run) reassignAgain() (bool, error) {
	if r.reassignDue == 0 || r.evaluator.counts.Passes < r.reassignDue {
		return false, nil
	}
	return r.reassign()
}
