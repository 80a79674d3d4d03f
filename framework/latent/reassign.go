package latent

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
)

// Reassigner is a problem that can relocate some of its variables to another local minimum, for example the
// coordinates of a row near two branches of a curve.
type Reassigner interface {
	// Reassign moves x, in place, to a point of lower cost, possibly far away, and reports whether it found one;
	// otherwise x stays unchanged. It also returns the work done, in passes (see [framework.Counts]).
	Reassign(x framework.Point) (moved bool, passes float64, err error)
}

// minGain is the least relative decrease of the cost by a relocation after which a run continues.
const minGain = 1e-5

// Reassign moves x, in place, to a point of lower cost that a [Reassigner] finds, possibly far away, and reports
// whether it did. It does nothing in a run that is restricted to first derivatives.
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

// WorthReassigning reports whether a relocation that changed the cost from one value to another is worth more
// iterations.
func WorthReassigning(from, to float64) bool { return to < from-minGain*math.Abs(from) }
