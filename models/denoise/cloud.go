package denoise

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// Cloud is the rows that a method is fitted to, with an index of them. Equal rows
// are one row with the sum of their weights. Rows of weight 0 are nobody's
// neighbours.
type Cloud struct {
	rows.Data
	index lookup.Index
	used  []int // rows of positive weight
	// number orders the rows of a part of a cloud among all of positive weight; nil is their order in used.
	number []int
	// others counts the rows of positive weight that a part of a cloud does not have.
	others int
}

// rows is the number of rows of positive weight in all.
func (c *Cloud) rows() int { return len(c.used) + c.others }

// The squares of what is smaller or larger than this leave the range of the
// numbers.
const (
	minSpan = 1e-120
	maxSpan = 1e120
)

// newCloud checks x, merges equal rows and indexes it. It shares the memory of x
// where no rows are equal.
func newCloud(x rows.Data) (*Cloud, error) {
	if err := checkRows(x); err != nil {
		return nil, err
	}
	return cloudOf(rows.Distinct(x))
}

// cloudOf indexes rows that have been checked.
func cloudOf(x rows.Data) (*Cloud, error) {
	c := &Cloud{Data: x}
	for i := range c.N {
		if c.Weight(i) > 0 {
			c.used = append(c.used, i)
		}
	}
	if len(c.used) == 0 {
		return nil, fmt.Errorf("denoise: all weights are 0: %w", ErrInput)
	}
	c.index = lookup.NewIndex(c.X, c.D, c.used)
	return c, nil
}

// checkRows refuses what cannot be searched.
func checkRows(x rows.Data) error {
	if x.N < 1 || x.D < 1 || x.N > math.MaxInt/x.D || len(x.X) != x.N*x.D {
		return fmt.Errorf("denoise: %d numbers do not make %d rows of %d; at least one row and one column are needed: %w", len(x.X), x.N, x.D, ErrInput)
	}
	var span float64
	for i, v := range x.X {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("denoise: row %d, column %d is %v; remove or impute it first: %w", i/x.D, i%x.D, v, ErrInput)
		}
		span = max(span, math.Abs(v-x.X[i%x.D]))
	}
	if span > maxSpan || span > 0 && span < minSpan {
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

// some returns the rows of positive weight or, if there are more than most, some
// at equal distances in the list of them.
func (c *Cloud) some(most int) []int {
	if len(c.used) <= most {
		return c.used
	}
	list := make([]int, most)
	for k := range list {
		list[k] = c.used[someRow(k, len(c.used), most)]
	}
	return list
}

// someRow is the row at place k of most among n.
func someRow(k, n, most int) int { return k * n / most }

// placeAmongSome is the place of row i of n among most of them at equal distances, -1
// if it is not there.
func placeAmongSome(i, n, most int) int {
	if n <= most {
		return i
	}
	k := (i*most + n - 1) / n
	if k < most && someRow(k, n, most) == i {
		return k
	}
	return -1
}
