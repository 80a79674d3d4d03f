package scqm

import (
	"errors"

	"github.com/scqm/scqm/framework"
)

// blame puts the fault of a loss in the place of what followed from it: solvers
// see only that numbers are not finite. A run that is nil did not get beyond
// its start.
func (p *Problem) blame(failure error, starts *starts, run *framework.Result) error {
	if !errors.Is(failure, framework.ErrNonFinite) {
		return failure
	}
	if f, ok := p.Loss().(framework.ErrReporter); ok && f.Err() != nil {
		return f.Err()
	}
	x, err := framework.Point(nil), error(nil)
	if run != nil {
		x = run.Point
	} else if x, err = starts.point(0); err != nil {
		return failure
	}
	if fault := p.FindLossError(x); fault != nil {
		return fault
	}
	return failure
}
