package frameworktest

import (
	"fmt"
	"math"
	"slices"
)

// expansion is a Taylor expansion of many functions of one step at once.
type expansion struct {
	// at evaluates the functions at a step; results are kept in cache.
	at    func(t float64) ([]float64, error)
	cache map[float64][]float64
	// terms[k] holds the k-th derivatives at step 0. Size is the magnitude of the terms that are summed to a value.
	terms [][]float64
	size  []float64
}

// slopes measures the Taylor slopes of the remainders after the given number of terms, over steps up to the given
// length.
func (x *expansion) slopes(terms int, length float64) ([]Slope, error) {
	if x.cache == nil {
		x.cache = make(map[float64][]float64)
	}
	slopes := make([]Slope, len(x.size))
	for i := range slopes {
		var err error
		slopes[i], err = TaylorSlope(func(t float64) (e, magnitude float64, err error) {
			t *= length
			if x.cache[t] == nil {
				if x.cache[t], err = x.at(t); err != nil {
					return 0, 0, err
				}
			}
			value, factor := x.cache[t][i], 1.0
			e, magnitude = value, math.Abs(value)+x.size[i]
			for k, term := range x.terms[:terms] {
				e -= factor * term[i]
				magnitude += math.Abs(factor * term[i])
				factor *= t / float64(k+1)
			}
			return math.Abs(e), magnitude, nil
		})
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
	}
	return slopes, nil
}

// smallest returns the smallest slope of the remainders after the given number of terms. A step across a kink has no
// meaningful slope. Up to half of the functions are therefore measured again over shorter steps.
func (x *expansion) smallest(terms int) (Slope, error) {
	slopes, err := x.slopes(terms, 1)
	if err != nil {
		return Slope{}, err
	}
	low := func(s Slope) bool { return !s.AtLeast(float64(terms)) }
	crossing := 0
	for _, s := range slopes {
		if low(s) {
			crossing++
		}
	}
	for length := 1. / 32; 2*crossing < len(slopes) && slices.ContainsFunc(slopes, low) && length > 1e-4; length /= 32 {
		again, err := x.slopes(terms, length)
		if err != nil {
			return Slope{}, err
		}
		for i, s := range slopes {
			if low(s) {
				slopes[i] = again[i]
			}
		}
	}
	smallest := Slope{Exact: true}
	for _, s := range slopes {
		if !s.Exact && (smallest.Exact || s.Slope < smallest.Slope) {
			smallest = s
		}
	}
	return smallest, nil
}
