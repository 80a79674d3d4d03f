package losses

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
)

const (
	// asymmetry is the largest difference of two mirrored entries, relative to the geometric mean of their diagonal
	// entries.
	asymmetry = 1e-12
	// productRows rows are multiplied with productColumns columns of M at a time. Gonum would start goroutines for
	// larger products, which is up to the caller.
	productRows, productColumns = 64, 192
)

// Mahalanobis returns the loss r'Mr for residual rows as long as the symmetric
// positive definite matrix M: twice the negative log-likelihood of Gaussian
// noise with covariance M^-1. It is the squared Mahalanobis distance; the code
// published with the paper takes its root.
//
// M is copied and made exactly symmetric. A matrix that is not square, not
// finite, not positive definite, or whose mirrored entries differ by more than
// 1e-12 of sqrt(M_jj M_kk), is an error that names the entry, counted from 1.
func Mahalanobis(m mat.Matrix) (framework.Loss, error) {
	l, err := newMahalanobis(m)
	if err != nil {
		return nil, fmt.Errorf("losses: mahalanobis: %w: %w", err, framework.ErrInvalid)
	}
	return l, nil
}

func newMahalanobis(m mat.Matrix) (*mahalanobis, error) {
	if m == nil {
		return nil, fmt.Errorf("no matrix")
	}
	rows, columns := m.Dims()
	if rows != columns || rows == 0 {
		return nil, fmt.Errorf("matrix is %d x %d: want a square one", rows, columns)
	}
	entries := entriesOf(m, rows)
	if !mirrored(entries, rows) {
		if err := checkEntries(entries, rows); err != nil {
			return nil, err
		}
		symmetrize(entries, rows)
	}
	if dense.Definite(entries, rows) {
		return &mahalanobis{m: blas64.General{Rows: rows, Cols: rows, Stride: rows, Data: entries}}, nil
	}
	if err := checkEntries(entries, rows); err != nil { // what is not finite has no factor
		return nil, err
	}
	return nil, indefinite(mat.NewSymDense(rows, entries))
}

// entriesOf copies the entries, row by row. It reuses the entries of a matrix that the caller gives away.
func entriesOf(m mat.Matrix, n int) []float64 {
	if owned, ok := m.(dense.Owned); ok && owned.RawMatrix().Stride == n {
		return owned.RawMatrix().Data[:n*n]
	}
	x := make([]float64, 0, n*n)
	if dense, ok := m.(*mat.Dense); ok {
		for j := range n {
			x = append(x, dense.RawRowView(j)...)
		}
		return x
	}
	for j := range n {
		for k := range n {
			x = append(x, m.At(j, k))
		}
	}
	return x
}

// mirrorBlock is the number of rows and columns whose mirrored entries are compared while they are in
// the cache.
const mirrorBlock = 32

// mirrored reports whether a matrix is bit-identical to its transpose, with a positive diagonal.
func mirrored(m []float64, n int) bool {
	var differ uint64
	for from := 0; from < n; from += mirrorBlock {
		for left := 0; left <= from; left += mirrorBlock {
			for j := from; j < min(from+mirrorBlock, n); j++ {
				row := m[j*n+left : j*n+min(left+mirrorBlock, j+1)]
				at := left*n + j
				for _, v := range row {
					differ |= math.Float64bits(v) ^ math.Float64bits(m[at])
					at += n
				}
			}
		}
		for j := from; j < min(from+mirrorBlock, n); j++ {
			if !(m[j*n+j] > 0) {
				return false
			}
		}
	}
	return differ == 0
}

// symmetrize replaces mirrored entries by their mean.
func symmetrize(m []float64, n int) {
	for j := range n {
		for k := j; k < n; k++ {
			v := m[j*n+k]/2 + m[k*n+j]/2
			m[j*n+k], m[k*n+j] = v, v
		}
	}
}

// checkEntries reports the first entry that a positive definite matrix cannot
// have. Rows and columns count from 0, as in arrays.
func checkEntries(m []float64, n int) error {
	for at, v := range m {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("row %d, column %d is %v", at/n, at%n, v)
		}
	}
	sizes := make([]float64, n) // roots of the diagonal
	for j := range n {
		v := m[j*n+j]
		if v <= 0 {
			return fmt.Errorf("row %d, column %d is %v: not positive definite", j, j, v)
		}
		sizes[j] = math.Sqrt(v)
		for k := range j {
			a, b := m[j*n+k], m[k*n+j]
			if math.Abs(a-b) > asymmetry*sizes[j]*sizes[k] {
				return fmt.Errorf("row %d, column %d is %v but its mirror is %v: not symmetric", j, k, a, b)
			}
		}
	}
	return nil
}

// indefinite describes a matrix without a Cholesky factor by its smallest eigenvalue and the coordinate with the
// largest component in its eigenvector.
func indefinite(m *mat.SymDense) error {
	var eigen mat.EigenSym
	if !eigen.Factorize(m, true) {
		return fmt.Errorf("not positive definite")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	worst := 0
	for k := range m.SymmetricDim() {
		if math.Abs(vectors.At(k, 0)) > math.Abs(vectors.At(worst, 0)) {
			worst = k
		}
	}
	return fmt.Errorf("not positive definite: smallest eigenvalue %.3g, mostly along row %d, column %d",
		eigen.Values(nil)[0], worst, worst)
}

type mahalanobis struct {
	m blas64.General
}

// Name implements [framework.Loss].
func (*mahalanobis) Name() string { return "mahalanobis" }

// Dim implements [rowloss.Dimensioned].
func (l *mahalanobis) Dim() int { return l.m.Rows }

// Matrix implements [framework.Quadratic].
func (l *mahalanobis) Matrix() []float64 { return l.m.Data }

// Evaluate implements [framework.Loss]. Rows of another length than Dim are an
// error.
func (l *mahalanobis) Evaluate(values, grad, r []float64, dim int) error {
	countRows(l.Name(), values, grad, r, dim)
	return l.inBlocks(r, dim, func(product []float64, from, to int) {
		if values != nil {
			for i := range len(product) / dim {
				// Rounding can make the form of an ill-conditioned M negative.
				values[from/dim+i] = max(0, dot(product[i*dim:(i+1)*dim], r[from+i*dim:]))
			}
		}
		if grad != nil {
			double(grad[from:to], product)
		}
	})
}

// HessianProduct implements [framework.SecondOrder].
func (l *mahalanobis) HessianProduct(dst, r, v []float64, dim int) error {
	countRows(l.Name(), nil, dst, r, dim)
	return l.inBlocks(v, dim, func(product []float64, from, to int) {
		double(dst[from:to], product)
	})
}

// inBlocks calls work for ranges [from, to) of whole rows of x with their product with M.
func (l *mahalanobis) inBlocks(x []float64, dim int, work func(product []float64, from, to int)) error {
	if dim != l.Dim() {
		return fmt.Errorf("losses: mahalanobis: the matrix is %d x %d, residual rows have %d entries: %w",
			l.Dim(), l.Dim(), dim, framework.ErrInvalid)
	}
	buffer := borrow(min(productRows*dim, len(x)))
	defer scratch.Put(buffer)
	for from := 0; from < len(x); from += productRows * dim {
		to := min(from+productRows*dim, len(x))
		product := (*buffer)[:to-from]
		l.multiply(product, x[from:to])
		work(product, from, to)
	}
	return nil
}

// multiply writes the product of M with every row of x.
func (l *mahalanobis) multiply(dst, x []float64) {
	dim := l.Dim()
	rows := len(x) / dim
	for from := 0; from < dim; from += productColumns {
		columns := min(productColumns, dim-from)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1,
			blas64.General{Rows: rows, Cols: dim, Stride: dim, Data: x},
			blas64.General{Rows: dim, Cols: columns, Stride: dim, Data: l.m.Data[from:]},
			0, blas64.General{Rows: rows, Cols: columns, Stride: dim, Data: dst[from:]})
	}
}

// dot returns the inner product of a with the start of b.
func dot(a, b []float64) float64 {
	return blas64.Dot(
		blas64.Vector{N: len(a), Inc: 1, Data: a},
		blas64.Vector{N: len(a), Inc: 1, Data: b})
}
