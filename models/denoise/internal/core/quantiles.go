package core

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/scqm/scqm/internal/dense"
)

// Quantiles holds quantiles of the length of a vector of normal noise in several directions, each of unit variance.
type Quantiles struct {
	Median float64
	Far    float64 // a length that almost no noise exceeds
	Most   float64 // bound of noise: on average over clouds with edges, rows moved by more ended further from the surface
	Cut    float64 // length from which on Tukey's weight is 0
}

// NewQuantiles returns the quantiles for q directions.
func NewQuantiles(q int) Quantiles {
	chi := distuv.ChiSquared{K: float64(q)}
	return Quantiles{math.Sqrt(chi.Quantile(0.5)), math.Sqrt(chi.Quantile(1 - 5e-4)), 4 * math.Sqrt(float64(q)), math.Sqrt(chi.Quantile(1 - TukeyTail))}
}

// OwnWeight is the influence of a row on its projection from which on charts of other rows determine its score.
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

// Median returns the upper median of v. It reorders v.
func Median(v []float64) float64 { return dense.Select(v, len(v)/2) }
