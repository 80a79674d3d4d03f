package dense

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// SymmetricEigen finds the eigenvectors of symmetric n x n matrices by reduction
// to tridiagonal form, in memory of its own.
type SymmetricEigen struct {
	// A is the matrix, whose upper triangle is read, and then its eigenvectors,
	// the columns in the order of ascending values.
	A []float64
	// Values are the eigenvalues, ascending.
	Values []float64

	n    int
	work []float64
}

// NewSymmetricEigen prepares for matrices of order n.
func NewSymmetricEigen(n int) *SymmetricEigen {
	s := &SymmetricEigen{n: n, A: make([]float64, n*n), Values: make([]float64, n)}
	size := []float64{0}
	lapack64.Syev(lapack.EVCompute, s.matrix(), s.Values, size, -1)
	s.work = make([]float64, int(size[0]))
	return s
}

func (s *SymmetricEigen) matrix() blas64.Symmetric {
	return blas64.Symmetric{N: s.n, Stride: s.n, Uplo: blas.Upper, Data: s.A}
}

// Factorize turns A into its eigenvectors. It reports false if there are none, as
// for a matrix that is not finite.
func (s *SymmetricEigen) Factorize() bool {
	for _, v := range s.A {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return lapack64.Syev(lapack.EVCompute, s.matrix(), s.Values, s.work, len(s.work))
}

// FactorizeOrIdentity is Factorize, but with unit vectors and values of 1 where
// that fails.
func (s *SymmetricEigen) FactorizeOrIdentity() {
	if s.Factorize() {
		return
	}
	clear(s.A)
	for i := range s.n {
		s.Values[i], s.A[i*s.n+i] = 1, 1
	}
}
