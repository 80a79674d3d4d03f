package manifolds

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/scqm/scqm/internal/dense"
)

// whitener is scratch space for symmetric matrices of order n, seen from a point
// X = LL'.
type whitener struct {
	n             int
	l             blas64.Triangular
	a, b, c, full blas64.General
	eig           *dense.SymmetricEigen
}

func newWhitener(n int) *whitener {
	square := func() blas64.General {
		return blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	}
	w := &whitener{n: n, a: square(), b: square(), c: square(), full: square(), eig: dense.NewSymmetricEigen(n)}
	w.l = blas64.Triangular{N: n, Stride: n, Data: w.full.Data, Uplo: blas.Lower, Diag: blas.NonUnit}
	return w
}

func (w *whitener) wrap(x []float64) blas64.General {
	return blas64.General{Rows: w.n, Cols: w.n, Stride: w.n, Data: x}
}

// factor finds L and reports whether X is positive definite.
func (w *whitener) factor(x []float64) bool {
	copy(w.full.Data, x)
	_, ok := lapack64.Potrf(blas64.Symmetric{N: w.n, Stride: w.n, Data: w.full.Data, Uplo: blas.Lower})
	return ok && nonFinite(x) < 0
}

// whiten writes L^{-1} V L^{-T} into dst.
func (w *whitener) whiten(dst blas64.General, v []float64) {
	copy(dst.Data, v)
	blas64.Trsm(blas.Left, blas.NoTrans, 1, w.l, dst)
	blas64.Trsm(blas.Right, blas.Trans, 1, w.l, dst)
	symmetrize(dst)
}

// color replaces W by L W L'.
func (w *whitener) color(s blas64.General) {
	blas64.Trmm(blas.Left, blas.NoTrans, 1, w.l, s)
	blas64.Trmm(blas.Right, blas.Trans, 1, w.l, s)
}

// between writes X sym(G) X into dst, through a.
func (w *whitener) between(dst blas64.General, x, g []float64) {
	copy(dst.Data, g)
	symmetrize(dst)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, w.wrap(x), dst, 0, w.a)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, w.a, w.wrap(x), 0, dst)
	symmetrize(dst)
}

// eigen finds the eigenvalues and eigenvectors of s.
func (w *whitener) eigen(s blas64.General) bool {
	copy(w.eig.A, s.Data)
	return w.eig.Factorize()
}

// logarithms finds the eigenvectors of L^{-1} Y L^{-T} and the logarithms of its
// eigenvalues, which keep their digits where Y is close to X. It reports whether
// they exist.
func (w *whitener) logarithms(x, y []float64) bool {
	floats.SubTo(w.b.Data, y, x)
	w.whiten(w.a, w.b.Data)
	log := math.Log1p
	if !(floats.Norm(w.a.Data, 2) < 0.5) {
		log = math.Log
		w.whiten(w.a, y)
	}
	if !w.eigen(w.a) {
		return false
	}
	for i, t := range w.eig.Values {
		w.eig.Values[i] = log(t)
	}
	return nonFinite(w.eig.Values) < 0
}

// spectral writes Q diag(t) Q' into b, with the eigenvectors Q and what stands in
// the place of the eigenvalues, through a.
func (w *whitener) spectral() {
	for i := range w.n {
		floats.MulTo(row(w.a, i), w.eig.A[i*w.n:(i+1)*w.n], w.eig.Values)
	}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, w.a, w.wrap(w.eig.A), 0, w.b)
}

// compose writes L Q diag(t) Q' L' into b.
func (w *whitener) compose() {
	blas64.Trmm(blas.Left, blas.NoTrans, 1, w.l, w.wrap(w.eig.A))
	w.spectral()
}
