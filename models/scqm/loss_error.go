package scqm

import (
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
)

// lossFault is a loss that is not finite for a row whose residuals are ordinary.
// It is returned as it is, as the number of the row can still change.
type lossFault struct {
	loss, what string
	value      float64
	row        int
}

// ordinaryResidual bounds residuals for which a loss must be finite: the square
// of larger ones can overflow.
const ordinaryResidual = 1e100

// Error names the loss and the row.
func (e *lossFault) Error() string {
	return fmt.Sprintf("scqm: fit: loss %s: the %s of row %d is %v, and its residuals are ordinary numbers; the loss must be finite for them, also at 0",
		e.loss, e.what, e.row, e.value)
}

// Unwrap says that numbers are not finite.
func (e *lossFault) Unwrap() error { return framework.ErrNonFinite }

// faultOfLoss looks for the first row at a point for which the loss breaks its
// promise to be finite, and returns nil where there is none.
func (p *objective) faultOfLoss(x framework.Point) error {
	f, w := p.sheet, p.worker(0)
	f.load(x[BlockC], x[BlockQ], x[BlockTheta])
	r, g := w.r[:f.D], w.g[:f.D]
	for i := range p.data.N {
		f.coordinates(w.z[:f.m], w.phi[:f.q], p.blocks[BlockTau].Row(x[BlockTau], i))
		f.residual(r, w.z[:f.m], p.data.Row(i))
		if slices.ContainsFunc(r, func(v float64) bool { return !(math.Abs(v) <= ordinaryResidual) }) {
			continue
		}
		fault := &lossFault{loss: p.loss.Name(), what: "value", row: i}
		if err := p.loss.Evaluate(w.values[:1], g, r, f.D); err != nil {
			return err
		}
		if fault.value = w.values[0]; !dense.Finite(fault.value) {
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
