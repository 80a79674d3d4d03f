package frameworktest

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// lawTolerance is the error, relative to 1 plus the size of the compared numbers, up to which two results count as
// equal.
const lawTolerance = 1e-10

func norm(v []float64) float64 { return floats.Norm(v, 2) }

// times returns a v.
func times(a float64, v []float64) []float64 {
	return floats.ScaleTo(make([]float64, len(v)), a, v)
}

func fill(dst []float64, v float64) {
	for i := range dst {
		dst[i] = v
	}
}

// equal returns an error if got differs from want by more than rounding.
func equal(got, want []float64) error {
	if d := floats.Distance(got, want, 2); !(d <= lawTolerance*(1+norm(want))) {
		return fmt.Errorf("off by %g", d)
	}
	return nil
}

// equalNumbers is equal for numbers that are sums of terms of size scale.
func equalNumbers(got, want, scale float64) error {
	if d := math.Abs(got - want); !(d <= lawTolerance*(1+scale)) {
		return fmt.Errorf("%g where %g is due", got, want)
	}
	return nil
}

// sameBits reports whether a and b are equal to the last bit.
func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}
