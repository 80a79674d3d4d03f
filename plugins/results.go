package plugins

import (
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/plugins/protocol"
)

// unwritten is a NaN with a unique bit pattern. It marks results that the plugin has
// not written yet.
var unwritten = math.Float64frombits(0x7ff8_5c93_11ed_a75e)

func checkRows(b *batch, reply *protocol.EvaluateResponse) error {
	if reply.Rows != uint64(b.rows()) {
		return fmt.Errorf("it says that it evaluated %d rows of %d", reply.Rows, b.rows())
	}
	return nil
}

func checkBytes(b *batch, reply *protocol.EvaluateResponse) error {
	if err := checkRows(b, reply); err != nil {
		return err
	}
	if len(reply.Results) != len(b.results) {
		return fmt.Errorf("%d arrays came back, %d were asked for", len(reply.Results), len(b.results))
	}
	for i, r := range b.results {
		if got := len(reply.Results[i]); got != wordBytes*len(r.to) {
			return fmt.Errorf("%s has %d bytes, want %d", word(r.quantity), got, wordBytes*len(r.to))
		}
	}
	return nil
}

// positive reports whether the results must be at least 0.
func (r result) positive() bool {
	q := r.quantity
	return q == protocol.Quantity_QUANTITY_VALUES || q == protocol.Quantity_QUANTITY_WEIGHTS
}

// take copies src to dst and reads each number once. It reports whether all are finite
// and, if positive is set, at least 0.
func take(dst, src []float64, positive bool) bool {
	copy(dst, src)
	return dense.FiniteUntil(dst) == len(dst) && (!positive || slices.Min(dst) >= 0)
}

// inspect returns an error for the first invalid result. Results need not be finite if
// the residuals are not finite, or are so large that the loss may overflow.
func (r result) inspect(b *batch, residual func(k int) float64) error {
	for k, v := range r.to {
		row := k / r.per
		switch {
		case math.Float64bits(v) == math.Float64bits(unwritten):
			return fmt.Errorf("%s of row %d was not written", word(r.quantity), row)
		case r.positive() && v < 0:
			return fmt.Errorf("%s of row %d is %g, and must be at least 0", word(r.quantity), row, v)
		case !math.IsNaN(v) && !math.IsInf(v, 0):
			continue
		}
		extreme, norm := false, 0.0
		for j := row * b.dim; j < (row+1)*b.dim; j++ {
			extreme = extreme || !(math.Abs(residual(j)) <= ordinary)
			norm = math.Hypot(norm, residual(j))
		}
		if !extreme {
			return fmt.Errorf("%s of row %d is %g for finite residuals of norm %.3g", word(r.quantity), row, v, norm)
		}
	}
	return nil
}

// word returns the name of a quantity in error messages.
func word(q protocol.Quantity) string {
	switch q {
	case protocol.Quantity_QUANTITY_VALUES:
		return "the value"
	case protocol.Quantity_QUANTITY_GRADIENTS:
		return "the gradient"
	case protocol.Quantity_QUANTITY_WEIGHTS:
		return "the weight"
	case protocol.Quantity_QUANTITY_PRODUCTS:
		return "the Hessian product"
	default:
		return "the profile"
	}
}
