package alternating

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

// A metric is a positive definite matrix M = R'R, D x D. Its methods take the rows of x, of length D,
// one by one, in place.
type metric interface {
	// Whiten multiplies by R, so that r'Mr is the squared norm.
	Whiten(x []float64)
	// Unwhiten multiplies by R^-1, and Unpull by R'^-1.
	Unwhiten(x []float64)
	Unpull(x []float64)
}

// newMetric factors the matrix of a loss, and reports false where it is not positive definite to
// working precision.
func newMetric(l framework.Quadratic, D int) (metric, bool) {
	if t, ok := l.(*nearest.TridiagonalForm); ok {
		if t.M.IsDiagonal() {
			return newDiagonalMetric(t.M.Diagonal)
		}
		f, ok := t.M.Factor()
		if !ok {
			return nil, false
		}
		return &bidiagonalMetric{f.Roots()}, true
	}
	var c mat.Cholesky
	if !c.Factorize(mat.NewSymDense(D, l.Matrix())) {
		return nil, false
	}
	var upper mat.TriDense
	c.UTo(&upper)
	return &triangularMetric{upper.RawTriangular()}, true
}

// bidiagonalMetric is the metric of a tridiagonal matrix: three operations per entry.
type bidiagonalMetric struct{ *dense.Bidiagonal }

func (f *bidiagonalMetric) Whiten(x []float64)   { f.Multiply(x) }
func (f *bidiagonalMetric) Unwhiten(x []float64) { f.Solve(x) }
func (f *bidiagonalMetric) Unpull(x []float64)   { f.SolveTransposed(x) }

// diagonalMetric is the metric of a diagonal matrix: one operation per entry.
type diagonalMetric struct{ roots, inverse []float64 }

func newDiagonalMetric(diagonal []float64) (metric, bool) {
	f := &diagonalMetric{make([]float64, len(diagonal)), make([]float64, len(diagonal))}
	for j, v := range diagonal {
		if !(v > 0) {
			return nil, false
		}
		f.roots[j] = math.Sqrt(v)
		f.inverse[j] = 1 / f.roots[j]
	}
	return f, true
}

func (f *diagonalMetric) Whiten(x []float64)   { f.scale(x, f.roots) }
func (f *diagonalMetric) Unwhiten(x []float64) { f.scale(x, f.inverse) }
func (f *diagonalMetric) Unpull(x []float64)   { f.scale(x, f.inverse) }

func (f *diagonalMetric) scale(x, by []float64) {
	for n := len(by); len(x) > 0; x = x[n:] {
		dense.Products(x[:n], x[:n], by)
	}
}

// triangularMetric is the metric of any other matrix, D operations per entry.
type triangularMetric struct{ r blas64.Triangular }

func (f *triangularMetric) Whiten(x []float64) {
	blas64.Trmm(blas.Right, blas.Trans, 1, f.r, f.rows(x))
}
func (f *triangularMetric) Unwhiten(x []float64) {
	blas64.Trsm(blas.Right, blas.Trans, 1, f.r, f.rows(x))
}
func (f *triangularMetric) Unpull(x []float64) {
	blas64.Trsm(blas.Right, blas.NoTrans, 1, f.r, f.rows(x))
}

func (f *triangularMetric) rows(x []float64) blas64.General {
	return blas64.General{Rows: len(x) / f.r.N, Cols: f.r.N, Stride: f.r.N, Data: x}
}

// lyapunov solves Omega T + T Omega = Z for symmetric m x m matrices, T positive definite, through
// the eigenvectors of T.
type lyapunov struct {
	m     int
	eigen *dense.SymmetricEigen
	work  []float64
}

func newLyapunov(m int) *lyapunov {
	return &lyapunov{m, dense.NewSymmetricEigen(m), make([]float64, m*m)}
}

// solve overwrites z by Omega, and reports false where T has no positive eigenvalues.
func (l *lyapunov) solve(z, t []float64) bool {
	m := l.m
	copy(l.eigen.A, t)
	if !l.eigen.Factorize() || !(l.eigen.Values[0] > 0) || math.IsInf(l.eigen.Values[m-1], 0) {
		return false
	}
	e := square(l.eigen.A, m)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, e, square(z, m), 0, square(l.work, m))
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, square(l.work, m), e, 0, square(z, m))
	for i, a := range l.eigen.Values {
		for j, b := range l.eigen.Values {
			z[i*m+j] /= a + b
		}
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, e, square(z, m), 0, square(l.work, m))
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, square(l.work, m), e, 0, square(z, m))
	return true
}

func square(x []float64, m int) blas64.General {
	return blas64.General{Rows: m, Cols: m, Stride: m, Data: x}
}
