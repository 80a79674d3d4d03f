package rows

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/internal/dense"
)

// Validate returns an error if the data cannot be used: if lengths do not match, or
// entries or weights are not valid numbers. Errors count rows and columns from 0.
func (x Data) Validate() error {
	if x.N < 1 || x.D < 1 {
		return fmt.Errorf("scqm: data are %d x %d; at least one row and one column are needed: %w", x.N, x.D, ErrInput)
	}
	if x.N > math.MaxInt/x.D || len(x.X) != x.N*x.D {
		return fmt.Errorf("scqm: %d numbers do not make %d rows of %d: %w", len(x.X), x.N, x.D, ErrInput)
	}
	if err := x.ValidateEntries(); err != nil {
		return err
	}
	if err := x.validateRows(); err != nil {
		return err
	}
	return x.validateWeights()
}

// ValidateEntries returns an error for the first entry that is infinite, or NaN unless x.Missing is set.
func (x Data) ValidateEntries() error {
	for i := dense.FiniteUntil(x.X); i < len(x.X); i++ {
		switch v := x.X[i]; {
		case math.IsInf(v, 0):
			return fmt.Errorf("scqm: row %d, column %d is %v (infinite): correct it or leave out its row: %w", x.First+i/x.D, i%x.D, v, ErrInput)
		case math.IsNaN(v) && !x.Missing:
			return fmt.Errorf("scqm: row %d, column %d is NaN (missing): %s: %w", x.First+i/x.D, i%x.D, missingRemedy, ErrInput)
		}
	}
	return nil
}

// missingRemedy is the advice in errors about missing entries; python/scqm/_rows.py has the same text.
const missingRemedy = `fill it in, leave out its row, or ignore what is missing (missing="ignore", --missing ignore)`

func (x Data) validateWeights() error {
	if x.Weights == nil {
		return nil
	}
	if len(x.Weights) != x.N {
		return fmt.Errorf("scqm: %d weights for %d rows: %w", len(x.Weights), x.N, ErrInput)
	}
	var sum float64
	for i, w := range x.Weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("scqm: weight of row %d is %v, want a finite number of at least 0: %w", i, w, ErrInput)
		}
		sum += w
	}
	if sum == 0 {
		return fmt.Errorf("scqm: all weights are 0: %w", ErrInput)
	}
	return nil
}

// validateRows returns an error if all entries of a row are missing.
func (x Data) validateRows() error {
	if !x.Missing {
		return nil
	}
	for i := range x.N {
		if NoneObserved(x.Row(i)) {
			return fmt.Errorf("scqm: row %d has no entry, all of its %d are missing: leave it out (--drop-missing): %w", x.First+i, x.D, ErrInput)
		}
	}
	return nil
}

// ValidateColumns returns an error if a column has no entry in rows of nonzero weight,
// because a fit could not learn about it.
func (x Data) ValidateColumns() error {
	if !x.Missing {
		return nil
	}
	for j, v := range firstObserved(x) {
		if v != v {
			return fmt.Errorf("scqm: column %d has no entry, all of its %d are missing or in rows of weight 0; leave it out: %w", j, x.N, ErrInput)
		}
	}
	return nil
}
