package core

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// Cloud holds the rows to which a method is fitted, with an index. Equal rows are one row with the sum of their
// weights. Rows of weight 0 are never neighbours.
type Cloud struct {
	rows.Data
	Index lookup.Index
	Used  []int // rows of positive weight
}

// Count is the number of rows of positive weight.
func (c *Cloud) Count() int { return len(c.Used) }

// MaxSpan bounds the size of rows, above and by its inverse below. Beyond it squares overflow or underflow.
const MaxSpan = 1e120

// CloudOf makes the cloud of rows that have been checked, with an index.
func CloudOf(x rows.Data) (*Cloud, error) {
	c := &Cloud{Data: x}
	for i := range c.N {
		if c.Weight(i) > 0 {
			c.Used = append(c.Used, i)
		}
	}
	if len(c.Used) == 0 {
		return nil, fmt.Errorf("denoise: all weights are 0: %w", ErrInput)
	}
	c.Index = lookup.NewIndex(c.X, c.D, c.Used)
	return c, nil
}

// CheckRows returns an error if the shape, the entries, the extent or the weights of x are invalid.
func CheckRows(x rows.Data) error {
	if x.N < 1 || x.D < 1 || x.N > math.MaxInt/x.D || len(x.X) != x.N*x.D {
		return fmt.Errorf("denoise: %d numbers do not make %d rows of %d; at least one row and one column are needed: %w", len(x.X), x.N, x.D, ErrInput)
	}
	if err := x.ValidateEntries(); err != nil {
		return err
	}
	var span float64
	for i, v := range x.X {
		span = max(span, math.Abs(v-x.X[i%x.D]))
	}
	if span > MaxSpan || span > 0 && span < 1/MaxSpan {
		return fmt.Errorf("denoise: the rows span %.2g, and squares of that are beyond the numbers; rescale them: %w", span, ErrInput)
	}
	if x.Weights != nil && len(x.Weights) != x.N {
		return fmt.Errorf("denoise: %d weights for %d rows: %w", len(x.Weights), x.N, ErrInput)
	}
	for i, w := range x.Weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("denoise: weight of row %d is %v, want a finite number of at least 0: %w", i, w, ErrInput)
		}
	}
	return nil
}

// Some returns the rows of positive weight. If there are more than most, it returns the first most, in the order of
// [Shuffled].
func (c *Cloud) Some(most int) []int { return c.Used[:min(most, len(c.Used))] }

// SomeRow is the row at place k of most among n.
func SomeRow(k, n, most int) int { return k * n / most }
