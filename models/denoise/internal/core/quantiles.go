package core

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/scqm/scqm/internal/dense"
)

// Quantiles are those of the length of normal noise in several directions, of unit standard deviation.
type Quantiles struct {
	Median float64
	Far    float64 // what hardly any is beyond
	Most   float64 // beyond which it is no noise: rows that were moved by more came out further from the surface than they were, on the average of clouds with edges
	Cut    float64 // where Tukey's loss stops to count
}

// NewQuantiles are those for q directions.
func NewQuantiles(q int) Quantiles {
	chi := distuv.ChiSquared{K: float64(q)}
	return Quantiles{math.Sqrt(chi.Quantile(0.5)), math.Sqrt(chi.Quantile(1 - 5e-4)), 4 * math.Sqrt(float64(q)), math.Sqrt(chi.Quantile(1 - TukeyTail))}
}

// OwnWeight is the influence of a row on its foot from which on its score is that by charts of others.
const OwnWeight = 0.3

// Typical estimates the standard deviation of the noise from distances from the surface: their median over its value
// for unit noise. Distances that noise hardly explains are left out, as outliers in a fifth of the rows would raise
// the median by a third. It reorders far.
func (q *Quantiles) Typical(far []float64) float64 {
	n := len(far)
	middle := n / 2
	s := dense.Select(far, middle) / q.Median
	for range 6 { // distances are left out so many times
		within := 0
		for _, v := range far {
			if v < q.Far*s {
				within++
			}
		}
		before := middle
		if middle = min(within/2, n-1); middle == before {
			break
		}
		s = dense.Select(far, middle) / q.Median
	}
	return s
}

// Median is the upper median of values. It changes their order.
func Median(v []float64) float64 { return dense.Select(v, len(v)/2) }
