package frameworktest

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

const (
	// slopeTolerance is the largest shortfall of a measured Taylor slope.
	slopeTolerance = 0.05
	// slopeWindow is the number of steps, each half of the one before, over which the slope is measured.
	slopeWindow = 5
	// slopeHalvings is the number of steps 2^-1, 2^-2, ... that are tried.
	slopeHalvings = 44
	// slopeNoise is how many rounding errors of the compared values an error must exceed to count.
	slopeNoise = 1e4
	// slopeSteps is the number of steps, from 1/2 on, at which a remainder must exceed rounding to count as one. A
	// term of first or second order exceeds it at many more steps, unless its factor is below 1e-9 or 1e-7. A
	// remainder that only shows at the largest steps comes from distant kinks.
	slopeSteps = 8
)

// Slope is the measured order of a Taylor remainder e(t) ~ t^Slope.
type Slope struct {
	// Slope is the slope of the regression of log e on log t over the smallest steps at which e exceeds rounding.
	Slope float64
	// Exact reports that e exceeded rounding at most at the largest steps: the expansion has no remainder.
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

// TaylorSlope measures the order of a remainder. The function returns the absolute remainder at step t, and the
// magnitude of the numbers whose difference it is, from which the rounding error is estimated. An error in the k-th
// term of an expansion shows as a slope of k, however small its factor, because the slope is measured at the smallest
// steps that rounding allows.
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
