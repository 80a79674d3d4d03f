package manifolds

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// SPD is the set of symmetric positive definite n x n matrices with the affine-invariant
// metric trace(X^{-1} U X^{-1} V): the distance of A X A' and A Y A' is that of X and Y
// for every invertible A. Singular matrices are infinitely far away. Matrices of a
// reciprocal condition number below 1e-14, whose least eigenvalues are rounding errors,
// are rejected. Tangent vectors are symmetric. Matrices are row-major and full.
//
// With the Cholesky factorization X = LL' and the symmetric W = L^{-1} V L^{-T},
// the metric is that of W and everything is a function of eigenvalues.
//
// Sources: X. Pennec, P. Fillard, N. Ayache, A Riemannian framework for tensor
// computing, Int. J. Comput. Vis. 66 (2006) 41-66; R. Bhatia, Positive Definite
// Matrices, Princeton 2007, chapter 6; S. Sra, R. Hosseini, Conic geometric
// optimization on the manifold of positive definite matrices, SIAM J. Optim. 25
// (2015) 713-739.
type SPD struct {
	n        int
	whitener sync.Pool
}

// NewSPD returns the manifold of n x n matrices. It panics for n below 1.
func NewSPD(n int) *SPD {
	atLeast(1, "spd", n)
	return &SPD{n: n, whitener: sync.Pool{New: func() any { return newWhitener(n) }}}
}

// String returns a name such as "spd 5".
func (m *SPD) String() string { return fmt.Sprintf("spd %d", m.n) }

// Size is n^2.
func (m *SPD) Size() int { return m.n * m.n }

// Dim is n(n+1)/2.
func (m *SPD) Dim() int { return m.n * (m.n + 1) / 2 }

// whiten returns scratch space with the factorization of x. ok is false if x is not
// positive definite.
func (m *SPD) whiten(x []float64) (w *whitener, ok bool) {
	w = m.whitener.Get().(*whitener)
	return w, w.factor(x)
}

// Project writes (V + V')/2.
func (m *SPD) Project(dst, x, v []float64) {
	mustFit(m.Size(), dst, x, v)
	copy(dst, v)
	symmetrize(matrix(m.n, m.n, dst))
}

// Inner is trace(X^{-1} U X^{-1} V), or NaN where X is not positive definite.
func (m *SPD) Inner(x, u, v []float64) float64 {
	mustFit(m.Size(), x, u, v)
	w, ok := m.whiten(x)
	defer m.whitener.Put(w)
	if !ok {
		return math.NaN()
	}
	w.whiten(w.a, u)
	if &u[0] == &v[0] {
		return floats.Dot(w.a.Data, w.a.Data)
	}
	w.whiten(w.b, v)
	return floats.Dot(w.a.Data, w.b.Data)
}

// Gradient writes X sym(G) X.
func (m *SPD) Gradient(dst, x, g []float64) {
	mustFit(m.Size(), dst, x, g)
	w := m.whitener.Get().(*whitener)
	defer m.whitener.Put(w)
	w.between(w.b, x, g)
	copy(dst, w.b.Data)
}

// Retract writes
//
//	X + V + V X^{-1} V / 2 = L (I + (I + W)^2) L' / 2,
//
// which is positive definite whatever V is and agrees with the geodesic to second
// order. It fails where X is not positive definite, or the result not finite or
// singular to working precision.
//
// Source: B. Jeuris, R. Vandebril, B. Vandereycken, A survey and comparison of
// contemporary algorithms for computing the matrix geometric mean, Electron.
// Trans. Numer. Anal. 39 (2012) 379-402.
func (m *SPD) Retract(dst, x, v []float64) error {
	mustFit(m.Size(), dst, x, v)
	w, ok := m.whiten(x)
	defer m.whitener.Put(w)
	if !ok {
		return failed(m, "retraction", errNotDefinite)
	}
	w.whiten(w.a, v)
	copy(w.b.Data, w.a.Data)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 0.5, w.a, w.a, 1, w.b)
	for i := range m.n {
		w.b.Data[i*m.n+i]++
	}
	w.color(w.b)
	return m.deliver(dst, w, "retraction")
}

// RetractionOrder is 2.
func (*SPD) RetractionOrder() int { return 2 }

// deliver writes w.b to dst if it is a point of the manifold, else it returns an error.
func (m *SPD) deliver(dst []float64, w *whitener, operation string) error {
	symmetrize(w.b)
	if err := checkFinite(w.b.Data); err != nil {
		return failed(m, operation, err)
	}
	if !w.factor(w.b.Data) {
		return failed(m, operation, errors.New("the result is singular to working precision"))
	}
	copy(dst, w.b.Data)
	return nil
}

// Exp writes L exp(W) L'. It fails where X is not positive definite or the result
// not finite, or singular to working precision.
func (m *SPD) Exp(dst, x, v []float64) error {
	mustFit(m.Size(), dst, x, v)
	w, ok := m.whiten(x)
	defer m.whitener.Put(w)
	if !ok {
		return failed(m, "exponential", errNotDefinite)
	}
	w.whiten(w.a, v)
	if !w.eigen(w.a) {
		return failed(m, "exponential", errors.New("v is not finite"))
	}
	for i, t := range w.eig.Values {
		w.eig.Values[i] = math.Exp(t)
	}
	w.compose()
	return m.deliver(dst, w, "exponential")
}

// Log writes L log(L^{-1} Y L^{-T}) L'. It fails where X or Y is not positive
// definite.
func (m *SPD) Log(dst, x, y []float64) error {
	mustFit(m.Size(), dst, x, y)
	w, ok := m.whiten(x)
	defer m.whitener.Put(w)
	if !ok || !w.logarithms(x, y) {
		return failed(m, "logarithm", errNotDefinite)
	}
	w.compose()
	symmetrize(w.b)
	copy(dst, w.b.Data)
	return nil
}

// Distance is the root of the sum of the squared logarithms of the eigenvalues of
// X^{-1} Y. It fails where X or Y is not positive definite.
func (m *SPD) Distance(x, y []float64) (float64, error) {
	mustFit(m.Size(), x, y)
	w, ok := m.whiten(x)
	defer m.whitener.Put(w)
	if !ok || !w.logarithms(x, y) {
		return 0, failed(m, "distance", errNotDefinite)
	}
	return floats.Norm(w.eig.Values, 2), nil
}

// Transport writes the parallel transport along the geodesic from X to Y, which
// keeps lengths and angles,
//
//	E V E',  E = (Y X^{-1})^{1/2}.
//
// It copies V where X or Y is not positive definite.
func (m *SPD) Transport(dst, x, y, v []float64) {
	mustFit(m.Size(), dst, x, y, v)
	w, ok := m.whiten(x)
	defer m.whitener.Put(w)
	if !ok || !w.carryTo(y) {
		copy(dst, v)
		return
	}
	w.whiten(w.c, v)
	// E = L S^{1/2} L^{-1} with S = L^{-1} Y L^{-T}.
	w.carry(w.c)
	copy(dst, w.c.Data)
}

// RiemannianHessian writes X sym(H) X + sym(V sym(G) X).
func (m *SPD) RiemannianHessian(dst, x, g, h, v []float64) {
	mustFit(m.Size(), dst, x, g, h, v)
	w := m.whitener.Get().(*whitener)
	defer m.whitener.Put(w)
	w.between(w.b, x, h)
	copy(w.c.Data, g)
	symmetrize(w.c)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, w.wrap(v), w.c, 0, w.a)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, w.a, w.wrap(x), 0, w.c)
	symmetrize(w.c)
	floats.AddTo(dst, w.b.Data, w.c.Data)
}

// Rand draws a matrix with Haar distributed eigenvectors and eigenvalues
// exp(z/2), z standard normal.
func (m *SPD) Rand(dst []float64, rng *rand.Rand) {
	mustFit(m.Size(), dst)
	w := m.whitener.Get().(*whitener)
	defer m.whitener.Put(w)
	newFrame(m.n, m.n).rand(w.eig.A, rng)
	for i := range w.eig.Values {
		w.eig.Values[i] = math.Exp(rng.NormFloat64() / 2)
	}
	w.spectral()
	symmetrize(w.b)
	copy(dst, w.b.Data)
}

// Violation is the largest entry of |X - X'|, or +Inf where X is not finite, not
// positive definite, or singular to working precision.
func (m *SPD) Violation(x []float64) float64 {
	mustFit(m.Size(), x)
	w, ok := m.whiten(x)
	defer m.whitener.Put(w)
	if !ok {
		return math.Inf(1)
	}
	var worst float64
	for i := range m.n {
		for j := range i {
			worst = math.Max(worst, math.Abs(x[i*m.n+j]-x[j*m.n+i]))
		}
	}
	return worst
}

// Restore writes (X + X')/2. It fails where that is not positive definite: there
// is no nearest point, as the set is open.
func (m *SPD) Restore(x []float64) error {
	m.Project(x, x, x)
	w, ok := m.whiten(x)
	m.whitener.Put(w)
	if !ok {
		return failed(m, "restoring x", errNotDefinite)
	}
	return nil
}

// errNotDefinite says that an argument is not symmetric positive definite.
var errNotDefinite = errors.New("x or y is not symmetric positive definite")
