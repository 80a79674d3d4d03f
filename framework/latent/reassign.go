package latent

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
)

// Reassigner is a problem that can see past the local minima of some of its
// variables, such as coordinates on a curve that comes near a row twice.
type Reassigner interface {
	// Reassign moves x, in place, to a point of lower cost, be it far away, if
	// it finds one, and reports whether it did; else it leaves x alone. It also
	// returns the work done, in passes (see [framework.Counts]).
	Reassign(x framework.Point) (moved bool, passes float64, err error)
}

// minGain is the relative decrease of the cost from which on a reassignment is worth more
// iterations.
const minGain = 1e-6

// Reassign moves x, in place, to a point of lower cost that a [Reassigner] finds,
// be it far away, and reports whether it did. It does nothing where the run goes
// by the first order alone.
func Reassign(e *framework.Evaluator, x framework.Point) (moved bool, err error) {
	p, ok := framework.As[Reassigner](e.Problem())
	if !ok || e.FirstOrder() {
		return false, nil
	}
	err = e.Charge(0, func() error {
		var passes float64
		moved, passes, err = p.Reassign(x)
		e.Count(0, passes)
		if err != nil {
			moved, err = false, fmt.Errorf("reassignment: %w", err)
		}
		return err
	})
	return moved, err
}

// WorthReassigning reports whether a reassignment that took the cost from one
// value to another is worth more iterations.
func WorthReassigning(from, to float64) bool { return to < from-minGain*math.Abs(from) }
