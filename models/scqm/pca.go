package scqm

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// rankTolerance is the singular value, relative to the largest, below which a
// principal direction found through a Gram matrix is not to be trusted: the
// square of it meets the rounding errors.
const rankTolerance = 1e-7

// pca holds the leading principal components of data.
type pca struct {
	mean []float64 // D
	axes []float64 // k x D, orthonormal rows, by descending variance
}

// principalComponents computes the weighted mean and the first k principal
// directions, k <= D. Directions beyond the rank of the data are any that
// complete the others. The largest entry of each direction is positive.
func principalComponents(x Data, k int) (*pca, error) {
	p := &pca{mean: weightedMean(x), axes: make([]float64, k*x.D)}
	var unit float64 // keeps squares within the range of the numbers
	for i := range x.N {
		unit = math.Max(unit, floats.Distance(x.Row(i), p.mean, math.Inf(1)))
	}
	if math.IsInf(unit, 0) {
		return nil, fmt.Errorf("scqm: the data span more than the numbers do; rescale them: %w", ErrInput)
	}
	rank := 0
	if unit > 0 {
		var err error
		if rank, err = p.fill(x, k, unit); err != nil {
			return nil, err
		}
	}
	completeRows(p.axes, rank, x.D)
	for a := range k {
		axis := p.axes[a*x.D : (a+1)*x.D]
		if axis[largest(axis)] < 0 {
			floats.Scale(-1, axis)
		}
	}
	return p, nil
}

// fill computes the directions that the data determine and returns their
// number.
func (p *pca) fill(x Data, k int, unit float64) (int, error) {
	if x.D <= x.N {
		return p.fromCovariance(x, k, unit)
	}
	return p.fromGram(x, k, unit)
}

// fromCovariance uses the D x D matrix of second moments.
func (p *pca) fromCovariance(x Data, k int, unit float64) (int, error) {
	cov := mat.NewSymDense(x.D, nil)
	row := mat.NewVecDense(x.D, nil)
	for i := range x.N {
		p.centre(row.RawVector().Data, x.Row(i), unit)
		cov.SymRankOne(cov, x.weight(i), row)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(cov, true) {
		return 0, fmt.Errorf("scqm: principal components: eigenvalues did not converge: %w", ErrInput)
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	for a := range k { // eigenvalues ascend
		mat.Col(p.axes[a*x.D:(a+1)*x.D], x.D-1-a, &vectors)
	}
	return k, nil
}

// fromGram uses the n x n matrix of inner products, for wide data.
func (p *pca) fromGram(x Data, k int, unit float64) (int, error) {
	rows := make([]float64, x.N*x.D)
	for i := range x.N {
		r := rows[i*x.D : (i+1)*x.D]
		p.centre(r, x.Row(i), unit)
		floats.Scale(math.Sqrt(x.weight(i)), r)
	}
	centred := mat.NewDense(x.N, x.D, rows)
	gram := mat.NewSymDense(x.N, nil)
	gram.SymOuterK(1, centred)
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, true) {
		return 0, fmt.Errorf("scqm: principal components: eigenvalues did not converge: %w", ErrInput)
	}
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	top := math.Sqrt(math.Max(values[x.N-1], 0))
	rank := 0
	for rank < min(k, x.N) && math.Sqrt(math.Max(values[x.N-1-rank], 0)) > rankTolerance*top {
		axis := mat.NewVecDense(x.D, p.axes[rank*x.D:(rank+1)*x.D])
		axis.MulVec(centred.T(), vectors.ColView(x.N-1-rank))
		rank++
	}
	orthonormalizeRows(p.axes[:rank*x.D], x.D)
	return rank, nil
}

// centre writes (x - mean) / unit into dst.
func (p *pca) centre(dst, x []float64, unit float64) {
	for j, v := range x {
		dst[j] = (v - p.mean[j]) / unit
	}
}

// weightedMean adds deviations from the first row, which keeps the digits of
// data with a large common offset.
func weightedMean(x Data) []float64 {
	mean := make([]float64, x.D)
	var sum float64
	for i := range x.N {
		sum += x.weight(i)
	}
	first := x.Row(0)
	for i := range x.N {
		w := x.weight(i) / sum
		for j, v := range x.Row(i) {
			mean[j] += w * (v - first[j])
		}
	}
	floats.Add(mean, first)
	return mean
}

// completeRows makes all rows of a, of length D, orthonormal, given that the
// first have are: each further row is the coordinate axis furthest from the
// rows before it, orthogonalised.
func completeRows(a []float64, have, D int) {
	k := len(a) / D
	left := make([]float64, D) // squared distance of each axis from the rows so far
	for j := range left {
		left[j] = 1
		for i := range have {
			left[j] -= a[i*D+j] * a[i*D+j]
		}
	}
	for i := have; i < k; i++ {
		row := a[i*D : (i+1)*D]
		clear(row)
		row[floats.MaxIdx(left)] = 1
		orthogonalizeRow(a, i, D)
		for j, v := range row {
			left[j] -= v * v
		}
	}
}

// orthonormalizeRows makes independent rows orthonormal, in order.
func orthonormalizeRows(a []float64, D int) {
	for i := range len(a) / D {
		orthogonalizeRow(a, i, D)
	}
}

// orthogonalizeRow makes row i a unit vector orthogonal to those before it.
// Twice is enough (Giraud, Langou and Rozloznik 2005).
func orthogonalizeRow(a []float64, i, D int) {
	row := a[i*D : (i+1)*D]
	for range 2 {
		floats.Scale(1/floats.Norm(row, 2), row)
		for j := range i {
			other := a[j*D : (j+1)*D]
			floats.AddScaled(row, -floats.Dot(row, other), other)
		}
	}
	floats.Scale(1/floats.Norm(row, 2), row)
}

// largest returns the index of the entry of largest magnitude.
func largest(x []float64) int {
	best := 0
	for i, v := range x {
		if math.Abs(v) > math.Abs(x[best]) {
			best = i
		}
	}
	return best
}
