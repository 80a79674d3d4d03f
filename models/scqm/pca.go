package scqm

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// rankTolerance is the singular value, relative to the largest, below which a
// principal direction found through a Gram matrix is not to be trusted: the
// square of it meets the rounding errors.
const rankTolerance = 1e-7

// momentRows is the number of rows whose second moments are added at a time, and
// of those whose inner products with others are found at a time.
const momentRows = 512

// pca holds the leading principal components of data.
type pca struct {
	mean []float64 // D
	axes []float64 // k x D, orthonormal rows, by descending variance
}

// principalComponents computes the weighted mean and the first k principal
// directions, k <= D. Directions beyond the rank of the data are any that
// complete the others. The largest entry of each direction is positive. It ends
// early with the error of ctx when that is done.
func principalComponents(ctx context.Context, x Data, k, threads int) (*pca, error) {
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
		if rank, err = p.fill(ctx, x, k, threads, unit); err != nil {
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
func (p *pca) fill(ctx context.Context, x Data, k, threads int, unit float64) (int, error) {
	if x.D <= x.N {
		return p.fromCovariance(ctx, x, k, threads, unit)
	}
	return p.fromGram(ctx, x, k, unit)
}

// fromCovariance uses the D x D matrix of second moments.
func (p *pca) fromCovariance(ctx context.Context, x Data, k, threads int, unit float64) (int, error) {
	D := x.D
	cov := make([]float64, D*D)
	rows := make([]float64, min(momentRows, x.N)*D)
	for from := 0; from < x.N; from += momentRows {
		if err := ctx.Err(); err != nil {
			return 0, fmt.Errorf("scqm: principal components: %w", err)
		}
		n := min(momentRows, x.N-from)
		for i := range n {
			p.centre(rows[i*D:(i+1)*D], x, from+i, unit)
		}
		addSecondMoments(cov, rows, n, D, threads)
	}
	mirror(cov, D)
	_, vectors, err := leadingEigenvectors(ctx, cov, D, k)
	if err != nil {
		return 0, err
	}
	copy(p.axes, vectors)
	orthonormalizeRows(p.axes, D)
	return k, nil
}

// fromGram uses the n x n matrix of inner products, for wide data.
func (p *pca) fromGram(ctx context.Context, x Data, k int, unit float64) (int, error) {
	n, D := x.N, x.D
	rows := make([]float64, n*D)
	for i := range n {
		p.centre(rows[i*D:(i+1)*D], x, i, unit)
	}
	gram := make([]float64, n*n)
	for i := 0; i < n; i += momentRows {
		if err := ctx.Err(); err != nil {
			return 0, fmt.Errorf("scqm: principal components: %w", err)
		}
		strip := min(momentRows, n-i)
		blas64.Gemm(blas.NoTrans, blas.Trans, 1,
			blas64.General{Rows: strip, Cols: D, Stride: D, Data: rows[i*D:]},
			blas64.General{Rows: n - i, Cols: D, Stride: D, Data: rows[i*D:]}, 0,
			blas64.General{Rows: strip, Cols: n - i, Stride: n, Data: gram[i*n+i:]})
	}
	mirror(gram, n)
	centred := blas64.General{Rows: n, Cols: D, Stride: D, Data: rows}
	values, vectors, err := leadingEigenvectors(ctx, gram, n, min(k, n))
	if err != nil {
		return 0, err
	}
	rank := 0
	for rank < len(values) && math.Sqrt(values[rank]) > rankTolerance*math.Sqrt(values[0]) {
		weights := blas64.Vector{N: n, Inc: 1, Data: vectors[rank*n : (rank+1)*n]}
		axis := blas64.Vector{N: D, Inc: 1, Data: p.axes[rank*D : (rank+1)*D]}
		blas64.Gemv(blas.Trans, 1, centred, weights, 0, axis)
		rank++
	}
	orthonormalizeRows(p.axes[:rank*D], D)
	return rank, nil
}

// mirror copies the upper triangle of a, n x n, to the lower one.
func mirror(a []float64, n int) {
	for i := range n {
		for j := range i {
			a[i*n+j] = a[j*n+i]
		}
	}
}

// centre writes sqrt(w_i) (x_i - mean) / unit into dst.
func (p *pca) centre(dst []float64, x Data, i int, unit float64) {
	by := math.Sqrt(x.weight(i))
	for j, v := range x.Row(i) {
		dst[j] = (v - p.mean[j]) / unit * by
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
