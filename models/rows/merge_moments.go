package rows

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// Moments are the weight, the mean, and the spread about the mean of some rows, stored as
// consecutive numbers:
//
//	weight, sum of w |x - mean|^2, largest |x_j - mean_j|, mean (D)
//
// Moments of disjoint rows can be merged. Each is relative to its own mean, so that a
// large common offset causes no loss of accuracy.
//
// Source: T. F. Chan, G. H. Golub, R. J. LeVeque, Updating formulae and a pairwise
// algorithm for computing sample variances, COMPSTAT (1982).
type Moments []float64

// momentsHead is the number of entries before the mean.
const momentsHead = 3

// MomentsLen is the length of Moments of rows of length D.
func MomentsLen(D int) int { return momentsHead + D }

// Weight returns the sum of the weights.
func (m Moments) Weight() float64 { return m[0] }

// Spread returns the mean squared distance of the rows from their mean.
func (m Moments) Spread() float64 { return m[1] / m[0] }

// Farthest returns an upper bound of |x_j - mean_j| over all entries. It is at most twice
// the largest value.
func (m Moments) Farthest() float64 { return m[2] }

// Mean returns the mean of rows of length D.
func (m Moments) Mean(D int) []float64 { return m[momentsHead : momentsHead+D] }

// Sum sets m to the moments of the rows of x.
func (m Moments) Sum(x Data) {
	clear(m)
	mean, gap := m.Mean(x.D), make([]float64, x.D)
	m[0] = x.TotalWeight()
	if !(m[0] > 0) {
		return
	}
	copy(mean, Mean(x))
	for i := range x.N {
		floats.SubTo(gap, x.Row(i), mean)
		m[1] += x.Weight(i) * floats.Dot(gap, gap)
		m[2] = math.Max(m[2], dense.Farthest(x.Row(i), mean))
	}
}

// MergeMoments returns a function that merges b into a, both moments of rows of length D.
func MergeMoments(D int) func(a, b []float64) {
	return func(a, b []float64) { Moments(a).merge(b, D) }
}

func (m Moments) merge(b Moments, D int) {
	switch {
	case b[0] == 0:
		return
	case m[0] == 0:
		copy(m, b)
		return
	}
	total := m[0] + b[0]
	share, product := b[0]/total, m[0]*(b[0]/total)
	mean, other := m.Mean(D), b.Mean(D)
	gap := make([]float64, D)
	floats.SubTo(gap, other, mean)
	moved := floats.Norm(gap, math.Inf(1))
	m[2] = math.Max(m[2]+share*moved, b[2]+(1-share)*moved)
	m[1] += b[1] + product*floats.Dot(gap, gap)
	m[0] = total
	floats.AddScaled(mean, share, gap)
}
