package manifolds

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/scqm/scqm/internal/dense"
)

// whitener is scratch space for computations with symmetric matrices of order n relative
// to a point X = LL'.
type whitener struct {
	n             int
	l             blas64.Triangular
	a, b, c, full blas64.General
	eig           *dense.SymmetricEigen

	// from and to are the last points X and Y. Solvers use a point many times, so the whitener keeps the factorization
	// of X, and the carrier C = L (L^{-1} Y L^{-T})^{1/2}. CWC' is the transport to Y of the tangent vector LWL' at X.
	from, to []float64 // X and Y, empty before the first
	definite bool      // X
	work     []float64
	iwork    []int
	carrier  blas64.General
}

// smallOrder is the order up to which matrix products are plain loops, because the
// overhead of BLAS calls is larger than the arithmetic.
const smallOrder = 24

func newWhitener(n int) *whitener {
	square := func() blas64.General { return zeros(n, n) }
	w := &whitener{n: n, a: square(), b: square(), c: square(), full: square(), carrier: square(), eig: dense.NewSymmetricEigen(n),
		work: make([]float64, 3*n), iwork: make([]int, n)}
	w.l = blas64.Triangular{N: n, Stride: n, Data: w.full.Data, Uplo: blas.Lower, Diag: blas.NonUnit}
	return w
}

func (w *whitener) wrap(x []float64) blas64.General {
	return matrix(w.n, w.n, x)
}

// leastCondition is the reciprocal condition number below which rounding errors determine
// the signs of the least eigenvalues.
const leastCondition = 1e-14

// factor finds L and reports whether X is positive definite, with a reciprocal condition number of at
// least leastCondition.
func (w *whitener) factor(x []float64) bool {
	if sameBits(w.from, x) {
		return w.definite
	}
	w.from, w.to = append(w.from[:0], x...), w.to[:0]
	copy(w.full.Data, x)
	factored := blas64.Symmetric{N: w.n, Stride: w.n, Data: w.full.Data, Uplo: blas.Lower}
	norm := lapack64.Lansy(lapack.MaxColumnSum, factored, w.work)
	_, ok := lapack64.Potrf(factored)
	w.definite = ok && nonFinite(x) < 0
	if w.definite {
		w.definite = lapack64.Pocon(factored, norm, w.work, w.iwork) >= leastCondition
	}
	return w.definite
}

// carryTo computes the carrier C to Y, using a and b as scratch space. It returns false if C does not exist.
func (w *whitener) carryTo(y []float64) bool {
	if sameBits(w.to, y) {
		return true
	}
	w.whiten(w.a, y)
	if !w.eigen(w.a) || !(w.eig.Values[0] > 0) {
		return false
	}
	for i, t := range w.eig.Values {
		w.eig.Values[i] = math.Sqrt(t)
	}
	w.spectral()
	blas64.Trmm(blas.Left, blas.NoTrans, 1, w.l, w.b)
	copy(w.carrier.Data, w.b.Data)
	w.to = append(w.to[:0], y...)
	return true
}

// sameBits reports whether two matrices have the same bits, including signs of zeros.
func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(s, t float64) bool { return math.Float64bits(s) == math.Float64bits(t) })
}

// whiten writes L^{-1} sym(V) L^{-T} into dst.
func (w *whitener) whiten(dst blas64.General, v []float64) {
	copy(dst.Data, v)
	symmetrize(dst)
	if w.n <= smallOrder {
		w.solve(dst.Data)
		return
	}
	blas64.Trsm(blas.Left, blas.NoTrans, 1, w.l, dst)
	blas64.Trsm(blas.Right, blas.Trans, 1, w.l, dst)
	symmetrize(dst)
}

// solve replaces the symmetric S by L^{-1} S L^{-T}.
func (w *whitener) solve(s []float64) {
	n, l := w.n, w.full.Data
	for i := range n {
		li, si := l[i*n:i*n+i+1], s[i*n:(i+1)*n]
		for k, t := range li[:i] {
			for j, u := range s[k*n : (k+1)*n] {
				si[j] -= t * u
			}
		}
		for j := range si {
			si[j] /= li[i]
		}
	}
	for i := range n {
		si := s[i*n : i*n+i+1]
		for j := range si {
			lj, sum := l[j*n:j*n+j+1], si[j]
			for k, t := range lj[:j] {
				sum -= t * si[k]
			}
			si[j] = sum / lj[j]
			s[j*n+i] = si[j]
		}
	}
}

// carry replaces the symmetric W by CWC', with the carrier C. It overwrites a.
func (w *whitener) carry(s blas64.General) {
	if w.n > smallOrder {
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, w.carrier, s, 0, w.a)
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, w.a, w.carrier, 0, s)
		symmetrize(s)
		return
	}
	n, c := w.n, w.carrier.Data
	for i := range n {
		ai := w.a.Data[i*n : (i+1)*n]
		clear(ai)
		for k, t := range c[i*n : (i+1)*n] {
			for j, u := range s.Data[k*n : (k+1)*n] {
				ai[j] += t * u
			}
		}
	}
	for i := range n {
		ai := w.a.Data[i*n : (i+1)*n]
		for j := range i + 1 {
			var sum float64
			for k, t := range c[j*n : (j+1)*n] {
				sum += t * ai[k]
			}
			s.Data[i*n+j], s.Data[j*n+i] = sum, sum
		}
	}
}

// color replaces W by L W L'.
func (w *whitener) color(s blas64.General) {
	blas64.Trmm(blas.Left, blas.NoTrans, 1, w.l, s)
	blas64.Trmm(blas.Right, blas.Trans, 1, w.l, s)
}

// between writes X sym(G) X into dst. It overwrites a.
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

// logarithms computes the eigenvectors of L^{-1} Y L^{-T} and the logarithms of its
// eigenvalues, which are accurate even if Y is close to X. It returns false if they do not
// exist.
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

// spectral writes Q diag(t) Q' into b, where Q are the eigenvectors and t replaces the
// eigenvalues. It overwrites a.
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
