package scqm

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// ErrInput marks data or settings that cannot be used.
var ErrInput = errors.New("invalid input")

// Data are N rows of length D, row-major, with optional weights.
type Data struct {
	N, D int
	X    []float64
	// Weights multiplies the loss of every row; nil stands for 1. Weights are
	// finite and at least 0, and not all 0.
	Weights []float64
}

// Row returns row i.
func (x Data) Row(i int) []float64 { return x.X[i*x.D : (i+1)*x.D] }

// weight returns the weight of row i.
func (x Data) weight(i int) float64 {
	if x.Weights == nil {
		return 1
	}
	return x.Weights[i]
}

// total returns the sum of the weights.
func (x Data) total() float64 {
	if x.Weights == nil {
		return float64(x.N)
	}
	return floats.Sum(x.Weights)
}

// Validate reports why the data cannot be used: shapes that do not fit, numbers
// that are not finite, or weights that are not. Places are counted from 0.
func (x Data) Validate() error { return x.validate() }

// validate refuses shapes that do not fit and numbers that are not finite; the
// error names the place, counted from 0.
func (x Data) validate() error {
	if x.N < 1 || x.D < 1 {
		return fmt.Errorf("scqm: data are %d x %d; at least one row and one column are needed: %w", x.N, x.D, ErrInput)
	}
	if x.N > math.MaxInt/x.D || len(x.X) != x.N*x.D {
		return fmt.Errorf("scqm: %d numbers do not make %d rows of %d: %w", len(x.X), x.N, x.D, ErrInput)
	}
	for i, v := range x.X {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("scqm: row %d, column %d is %v; remove or impute it first: %w", i/x.D, i%x.D, v, ErrInput)
		}
	}
	return x.validateWeights()
}

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
