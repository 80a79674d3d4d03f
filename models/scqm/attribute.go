package scqm

import (
	"errors"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
)

// attribute returns the error of the loss that caused ErrNonFinite, in place of ErrNonFinite. It looks for a row whose
// loss is not finite at the point of the run, or at the start if run is nil.
func (p *Problem) attribute(failure error, starts *starts, run *framework.Result) error {
	if !errors.Is(failure, framework.ErrNonFinite) {
		return failure
	}
	if f, ok := p.Loss().(rowloss.ErrReporter); ok && f.Err() != nil {
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
