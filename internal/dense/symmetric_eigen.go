package dense

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// SymmetricEigen finds the eigenvectors of symmetric n x n matrices by reduction to
// tridiagonal form. It reuses its memory.
type SymmetricEigen struct {
	// A is the matrix before Factorize, which reads its upper triangle. Afterwards its columns
	// are the eigenvectors, in the order of Values.
	A []float64
	// Values are the eigenvalues in ascending order.
	Values []float64

	n    int
	work []float64
}

// NewSymmetricEigen returns a SymmetricEigen for matrices of order n.
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

// Factorize replaces A by its eigenvectors. It returns false if the iteration fails, for
// example because an entry is not finite.
func (s *SymmetricEigen) Factorize() bool {
	for _, v := range s.A {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return lapack64.Syev(lapack.EVCompute, s.matrix(), s.Values, s.work, len(s.work))
}

// FactorizeOrIdentity is Factorize, but if that fails it sets A to the identity matrix and
// Values to 1.
func (s *SymmetricEigen) FactorizeOrIdentity() {
	if s.Factorize() {
		return
	}
	clear(s.A)
	for i := range s.n {
		s.Values[i], s.A[i*s.n+i] = 1, 1
	}
}
