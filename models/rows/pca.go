package rows

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
)

// rankTolerance is the singular value, relative to the largest, below which a principal direction found through a
// Gram matrix is unreliable: its square is at the level of rounding errors.
const rankTolerance = 1e-7

// momentRows is the number of rows that are processed at a time for second moments or
// inner products.
const momentRows = 512

// Components holds the leading principal components of data.
type Components struct {
	Mean []float64 // D
	Axes []float64 // k x D, orthonormal rows, by descending variance
}

// PrincipalComponents computes the weighted mean and the first k principal directions, k
// <= D. Beyond the rank of the data it returns arbitrary orthonormal directions. The
// largest entry of each direction is positive. If ctx is done, it returns early with the
// error of ctx.
func PrincipalComponents(ctx context.Context, x Data, k, threads int) (*Components, error) {
	p := &Components{Mean: Mean(x), Axes: make([]float64, k*x.D)}
	var unit float64 // keeps squares within the range of the numbers
	for i := range x.N {
		unit = max(unit, dense.Farthest(x.Row(i), p.Mean))
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
	dense.CompleteRows(p.Axes, rank, x.D)
	for a := range k {
		axis := p.Axes[a*x.D : (a+1)*x.D]
		if axis[dense.MaxAbsIdx(axis)] < 0 {
			floats.Scale(-1, axis)
		}
	}
	return p, nil
}

// fill computes the directions that the data determine, and returns how many there are.
func (p *Components) fill(ctx context.Context, x Data, k, threads int, unit float64) (int, error) {
	switch order := min(x.N, x.D); {
	case x.D <= x.N && (x.D <= MaxExplicit || asksAll(x.D, k)):
		return p.fromCovariance(ctx, x, k, threads, unit)
	case order <= exactEigen, asksAll(order, k):
		return p.fromGram(ctx, x, k, unit)
	}
	return p.fromRows(ctx, x, k, threads, unit)
}

// ComponentsSize returns an upper bound of the count of numbers that [PrincipalComponents] allocates.
func ComponentsSize(n, D, k int) float64 {
	order, columns := float64(min(n, D)), float64(D)
	axes := 3 * float64(k) * columns
	switch {
	case D <= n && D <= MaxExplicit, min(n, D) <= exactEigen, asksAll(min(n, D), k):
		rows := float64(min(momentRows, n)) * columns
		if D > n {
			rows = float64(n) * columns
		}
		// The matrix, what finding all of its eigenvectors takes, and a Krylov space.
		return axes + rows + 5*order*order + 3*float64(matrixEffort.products*(k+oversampling))*order
	}
	block := float64(k + oversampling)
	vectors := float64(readEffort.products) * block
	along := momentParts * float64(stripRows(D)) * (block + 1)
	return axes + momentParts*block*columns + along + (2*vectors+block)*columns + 4*vectors*vectors
}

// fromRows computes the directions by a few reads of the rows, for data with many rows and columns.
func (p *Components) fromRows(ctx context.Context, x Data, k, threads int, unit float64) (int, error) {
	mean := p.Mean
	if by := UnitOf(unit); by != 1 { // keeps squares within the range of the numbers
		x, mean = x.InUnits(by), slices.Clone(mean)
		for j := range mean {
			mean[j] /= by
		}
	}
	values, vectors, _, err := krylovEigenvectors(ctx, newSecondMoments(x, mean, threads), k, readEffort)
	if err != nil {
		return 0, err
	}
	rank := 0
	for rank < len(values) && math.Sqrt(values[rank]) > rankTolerance*math.Sqrt(values[0]) {
		rank++
	}
	copy(p.Axes, vectors[:rank*x.D])
	dense.OrthonormalizeRows(p.Axes[:rank*x.D], x.D)
	return rank, nil
}

// fromCovariance computes the directions from the D x D matrix of second moments.
func (p *Components) fromCovariance(ctx context.Context, x Data, k, threads int, unit float64) (int, error) {
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
	rank := len(vectors) / D
	copy(p.Axes, vectors)
	dense.OrthonormalizeRows(p.Axes[:rank*D], D)
	return rank, nil
}

// fromGram computes the directions from the n x n matrix of inner products, for few rows with many columns.
func (p *Components) fromGram(ctx context.Context, x Data, k int, unit float64) (int, error) {
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
		axis := blas64.Vector{N: D, Inc: 1, Data: p.Axes[rank*D : (rank+1)*D]}
		blas64.Gemv(blas.Trans, 1, centred, weights, 0, axis)
		rank++
	}
	dense.OrthonormalizeRows(p.Axes[:rank*D], D)
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
func (p *Components) centre(dst []float64, x Data, i int, unit float64) {
	by := math.Sqrt(x.Weight(i))
	for j, v := range x.Row(i) {
		dst[j] = (v - p.Mean[j]) / unit * by
	}
}

// addSecondMoments adds X'X on and above the diagonal to c, D x D, for n rows x of length D.
func addSecondMoments(c, x []float64, n, D, threads int) {
	const side = dense.SquareRows
	par.Do(threads, (D+side-1)/side, func(_, strip int) {
		dense.AddSquare(c, x, n, D, strip*side, min((strip+1)*side, D))
	})
}
