package frameworktest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// lossTolerance is the error, relative to the compared numbers, up to which two formulas of a loss agree.
const lossTolerance = 1e-10

// agree compares two formulas for the same numbers.
func agree(what string, got, want []float64) error {
	if d := largestDifference(got, want); !(d <= lossTolerance*floats.Norm(want, math.Inf(1))) {
		return fmt.Errorf("%s is off by %g", what, d)
	}
	return nil
}

// largestDifference returns the largest difference, NaN if any number is NaN.
func largestDifference(a, b []float64) float64 {
	d := 0.0
	for i, v := range a {
		d = max(d, math.Abs(v-b[i]))
	}
	return d
}

// poison is a NaN with a bit pattern that no computation gives.
var poison = math.Float64frombits(0x7ff8_dead_beef_0001)

// poisoned returns a destination filled with poison, to detect entries that are not written.
func poisoned(n int) []float64 {
	dst := make([]float64, n)
	fill(dst, poison)
	return dst
}

func written(what string, dst []float64) error {
	for i, v := range dst {
		if math.Float64bits(v) == math.Float64bits(poison) {
			return fmt.Errorf("%s %d was not written", what, i)
		}
	}
	return nil
}

func allFinite(results ...[]float64) error {
	for _, dst := range results {
		if i := slices.IndexFunc(dst, func(v float64) bool { return !isFinite(v) }); i >= 0 {
			return errors.Join(written("entry", dst), fmt.Errorf("entry %d is %g", i, dst[i]))
		}
	}
	return nil
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
