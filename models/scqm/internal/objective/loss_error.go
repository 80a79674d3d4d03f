package objective

import (
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
)

// LossError is a loss that is not finite for a row whose residuals are ordinary.
// It is returned as it is, as the number of the row can still change.
type LossError struct {
	loss, what string
	value      float64
	Row        int
}

// ordinaryResidual bounds residuals for which a loss must be finite: the square
// of larger ones can overflow.
const ordinaryResidual = 1e100

// Error names the loss and the row.
func (e *LossError) Error() string {
	return fmt.Sprintf("scqm: fit: loss %s: the %s of row %d is %v, and its residuals are ordinary numbers; the loss must be finite for them, also at 0",
		e.loss, e.what, e.Row, e.value)
}

// Unwrap says that numbers are not finite.
func (e *LossError) Unwrap() error { return framework.ErrNonFinite }

// FindLossError looks for the first row at a point for which the loss breaks its
// promise to be finite, and returns nil where there is none.
func (p *Objective) FindLossError(x framework.Point) error {
	f, w := p.sheet, p.Worker(0)
	f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	r, g := w.R[:f.D], w.G[:f.D]
	for i := range p.data.N {
		f.Coordinates(w.Z[:f.M], w.Phi[:f.Q], p.blocks[BlockTau].Row(x[BlockTau], i))
		f.Residual(r, w.Z[:f.M], p.data.Row(i))
		if slices.ContainsFunc(r, func(v float64) bool { return !(math.Abs(v) <= ordinaryResidual) }) {
			continue
		}
		fault := &LossError{loss: p.loss.Name(), what: "value", Row: i}
		if err := p.loss.Evaluate(w.Values[:1], g, r, f.D); err != nil {
			return err
		}
		if fault.value = w.Values[0]; !dense.Finite(fault.value) {
			return fault
		}
		fault.what = "gradient"
		if k := slices.IndexFunc(g, func(v float64) bool { return !dense.Finite(v) }); k >= 0 {
			fault.value = g[k]
			return fault
		}
	}
	return nil
}
