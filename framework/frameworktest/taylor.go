package frameworktest

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

const (
	// slopeTolerance is how far a measured Taylor slope may fall short.
	slopeTolerance = 0.05
	// slopeWindow is the number of steps, each half of the one before, over
	// which the slope is measured.
	slopeWindow = 5
	// slopeHalvings is the number of steps 2^-1, 2^-2, ... that are tried.
	slopeHalvings = 44
	// slopeNoise is how many roundings of the compared values an error must
	// exceed before it is trusted.
	slopeNoise = 1e4
	// slopeSteps is the number of steps from 1/2 on at which a remainder must
	// stand clear of rounding to count as one. A term of first or second order
	// does so at many more, unless its factor is below 1e-9 or 1e-7. What is
	// seen at the largest steps only are kinks further off.
	slopeSteps = 8
)

// Slope is the measured order of a Taylor remainder e(t) ~ t^Slope.
type Slope struct {
	// Slope is the regression slope of log e against log t over the smallest
	// steps at which e stands clear of rounding.
	Slope float64
	// Exact says that e did at the largest steps at most: the expansion has no
	// remainder.
	Exact bool
}

// AtLeast reports whether the remainder is of the wanted order or better.
func (s Slope) AtLeast(want float64) bool {
	return s.Exact || s.Slope >= want-slopeTolerance
}

// String prints the slope to two decimals, or "exact".
func (s Slope) String() string {
	if s.Exact {
		return "exact"
	}
	return fmt.Sprintf("%.2f", s.Slope)
}

// TaylorSlope measures the order of a remainder. The function gives the
// absolute remainder at step t and the magnitude of the numbers whose
// difference it is, from which the rounding error is judged. An error in the
// k-th term of an expansion shows as a slope of k, however small its factor,
// because the slope is read at the smallest steps that rounding allows.
func TaylorSlope(remainder func(t float64) (e, magnitude float64, err error)) (Slope, error) {
	var logT, logE []float64
	for k := 1; k <= slopeHalvings; k++ {
		t := math.Ldexp(1, -k)
		e, magnitude, err := remainder(t)
		if err != nil {
			return Slope{}, err
		}
		if math.IsNaN(e) || math.IsInf(e, 0) {
			return Slope{}, fmt.Errorf("remainder at step %g is %g", t, e)
		}
		if e <= slopeNoise*0x1p-53*magnitude {
			break
		}
		logT, logE = append(logT, math.Log(t)), append(logE, math.Log(e))
	}
	if len(logT) < slopeSteps {
		return Slope{Exact: true}, nil
	}
	from := max(0, len(logT)-slopeWindow)
	_, slope := stat.LinearRegression(logT[from:], logE[from:], nil, false)
	return Slope{Slope: slope}, nil
}
