package objective

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
)

// LossError reports a loss that is not finite for a row with moderate residuals. It is not wrapped, as the row number
// can still change.
type LossError struct {
	Row   int
	cause *rowloss.LossError
}

// Error names the row and the loss.
func (e *LossError) Error() string { return fmt.Sprintf("scqm: fit: row %d: %v", e.Row, e.cause) }

// Unwrap returns the error of the loss.
func (e *LossError) Unwrap() error { return e.cause }

// FindLossError returns a [LossError] for the first row with moderate residuals and a loss that is not finite at a
// point, nil for none. It takes 2nDm operations and the loss of every row, one at a time.
func (p *Objective) FindLossError(x framework.Point) error {
	f, w := p.sheet, p.Worker(0)
	f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	for i := range p.data.N {
		f.Coordinates(w.Z[:f.M], w.Phi[:f.Q], p.blocks[BlockTau].Row(x[BlockTau], i))
		r := w.R[:f.D]
		f.Residual(r, w.Z[:f.M], p.data.Row(i))
		if p.data.Missing { // a loss by entry takes rows of any length
			r = slices.DeleteFunc(r, math.IsNaN)
		}
		err := rowloss.LossErrorAt(p.loss, r)
		if cause := (*rowloss.LossError)(nil); errors.As(err, &cause) {
			return &LossError{i, cause}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
