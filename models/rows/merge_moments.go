package rows

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// Moments are the weight, mean and second moments about it of some rows, as numbers one
// after the other:
//
//	weight, sum of w |x - mean|^2, largest |x_j - mean_j|, mean (D), second (D x D or none)
//
// Moments of disjoint rows merge, each about its own mean, so that a large common offset
// costs no digits. Of second only what is on and above the diagonal counts.
//
// Source: T. F. Chan, G. H. Golub, R. J. LeVeque, Updating formulae and a pairwise
// algorithm for computing sample variances, COMPSTAT (1982).
type Moments []float64

// momentsHead is the number of entries before the mean.
const momentsHead = 3

// MomentsLen is the length of Moments of rows of length D, with or without the second.
func MomentsLen(D int, second bool) int {
	if second {
		return momentsHead + D + D*D
	}
	return momentsHead + D
}

// Weight returns the sum of the weights.
func (m Moments) Weight() float64 { return m[0] }

// Spread returns the mean squared distance of the rows from their mean.
func (m Moments) Spread() float64 { return m[1] / m[0] }

// Farthest returns a number that no entry of a row is farther from the mean than, and no
// more than twice as large as the farthest one is.
func (m Moments) Farthest() float64 { return m[2] }

// Mean returns the mean of rows of length D.
func (m Moments) Mean(D int) []float64 { return m[momentsHead : momentsHead+D] }

// Second returns the second moments, D x D, none where there are none.
func (m Moments) Second(D int) []float64 { return m[momentsHead+D:] }

// Sum writes the moments of rows. centred is memory of the size of x.X, which holds
// sqrt(w_i) (x_i - mean) afterwards.
func (m Moments) Sum(x Data, centred []float64) {
	clear(m)
	D, mean := x.D, m.Mean(x.D)
	m[0] = x.TotalWeight()
	if !(m[0] > 0) {
		return
	}
	copy(mean, Mean(x))
	for i := range x.N {
		row := centred[i*D : (i+1)*D]
		floats.SubTo(row, x.Row(i), mean)
		m[2] = math.Max(m[2], dense.Farthest(x.Row(i), mean))
		dense.Scale(row, math.Sqrt(x.Weight(i)))
		m[1] += floats.Dot(row, row)
	}
	if second := m.Second(D); len(second) > 0 {
		dense.AddSquare(second, centred, x.N, D, 0, D)
	}
}

// MergeMoments returns the merge of moments of rows of length D: of b into a.
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
	second, right := m.Second(D), b.Second(D)
	for i := range len(second) / D {
		row := second[i*D+i : (i+1)*D]
		floats.Add(row, right[i*D+i:(i+1)*D])
		floats.AddScaled(row, product*gap[i], gap[i:])
	}
}

// ComponentsOfMoments returns the first k principal directions of rows of length D, as
// [PrincipalComponents] does, with the variances along them, from their second moments,
// which it completes.
func ComponentsOfMoments(ctx context.Context, m Moments, D, k int) (*Components, []float64, error) {
	p := &Components{Mean: append([]float64(nil), m.Mean(D)...), Axes: make([]float64, k*D)}
	values := make([]float64, k)
	if m[1] > 0 {
		c := m.Second(D)
		mirror(c, D)
		found, vectors, err := leadingEigenvectors(ctx, c, D, k)
		if err != nil {
			return nil, nil, err
		}
		for i, v := range found {
			values[i] = v / m[0]
		}
		copy(p.Axes, vectors)
	}
	p.orient(D)
	return p, values, nil
}

// orient makes the axes orthonormal, completes those that are zero, and makes the
// largest entry of each positive.
func (p *Components) orient(D int) {
	rank := len(p.Axes) / D
	for rank > 0 && floats.Norm(p.Axes[(rank-1)*D:rank*D], math.Inf(1)) == 0 {
		rank--
	}
	dense.OrthonormalizeRows(p.Axes[:rank*D], D)
	dense.CompleteRows(p.Axes, rank, D)
	for a := range len(p.Axes) / D {
		axis := p.Axes[a*D : (a+1)*D]
		if axis[dense.MaxAbsIdx(axis)] < 0 {
			floats.Scale(-1, axis)
		}
	}
}

// ComponentsOfProducts returns the first k principal directions of rows with a mean and a total weight, with the
// variances along them, from products with their second moments about it. Most work is left out that only tells directions of noise apart.
func ComponentsOfProducts(ctx context.Context, a Symmetric, mean []float64, weight float64, k int) (*Components, []float64, error) {
	D := a.Order()
	found, vectors, _, err := krylovEigenvectors(ctx, a, k, readEffort)
	if err != nil {
		return nil, nil, err
	}
	p := &Components{Mean: mean, Axes: make([]float64, k*D)}
	values := make([]float64, k)
	for i, v := range found {
		values[i] = v / weight
	}
	copy(p.Axes, vectors)
	p.orient(D)
	return p, values, nil
}
