package alternating

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/scqm/scqm/internal/dense"
)

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
