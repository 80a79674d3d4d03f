package manifolds

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Grassmann is Gr(n, p), the set of p-dimensional subspaces of R^n, each given by
// an n x p matrix X whose columns are an orthonormal basis; XQ stands for the
// same point for every orthogonal Q. Tangent vectors are the V with X'V = 0, with
// the inner product trace(U'V). A cost must have one value for all bases of a
// subspace. Matrices are row-major.
//
// Sources: A. Edelman, T. A. Arias, S. T. Smith, The geometry of algorithms with
// orthogonality constraints, SIAM J. Matrix Anal. Appl. 20 (1998) 303-353;
// T. Bendokat, R. Zimmermann, P.-A. Absil, A Grassmann manifold handbook, Adv.
// Comput. Math. 50 (2024) 6.
type Grassmann struct{ tall }

// NewGrassmann returns Gr(n, p) for 1 <= p <= n. It panics for other shapes.
func NewGrassmann(n, p int) *Grassmann {
	m := new(Grassmann)
	m.init("grassmann", n, p)
	return m
}

// Dims returns n and p.
func (m *Grassmann) Dims() (n, p int) { return m.n, m.p }

// Dim is (n - p) p.
func (m *Grassmann) Dim() int { return (m.n - m.p) * m.p }

// Project writes V - X (X'V).
func (m *Grassmann) Project(dst, x, v []float64) {
	mustFit(m.Size(), dst, x, v)
	f := m.frame()
	defer m.frames.Put(f)
	load(f.a, x)
	load(f.b, v)
	f.horizontal(f.b, f.a)
	store(dst, f.b)
}

// Retract writes (X + V)(I + V'V)^{-1/2}, the orthonormal basis of the span of
// X + V that is nearest to X. It agrees with the geodesic to second order and
// fails where X + V is not finite.
func (m *Grassmann) Retract(dst, x, v []float64) error {
	mustFit(m.Size(), dst, x, v)
	f := m.frame()
	defer m.frames.Put(f)
	return failed(m, "retraction of x+v", f.retractPolar(dst, x, v))
}

// RetractionOrder is 2.
func (*Grassmann) RetractionOrder() int { return 2 }

// Exp writes the end of the geodesic
//
//	X W cos(S) W' + U sin(S) W',  V = U S W'.
//
// It fails where V is not finite or longer than 2^26, beyond which rounding
// leaves too few digits of the angles.
//
// Source: Edelman, Arias, Smith (1998), theorem 2.3.
func (m *Grassmann) Exp(dst, x, v []float64) error {
	mustFit(m.Size(), dst, x, v)
	if length := floats.Norm(v, 2); !(length <= longestGeodesic) {
		return failed(m, "exponential", fmt.Errorf("the length of v is %g", length))
	}
	f := m.frame()
	defer m.frames.Put(f)
	load(f.c, x)
	load(f.a, v)
	// V = QR with R = Z S W', so that U = QZ.
	copy(f.b.Data, f.a.Data)
	if err := f.qf(); err != nil {
		return failed(m, "exponential", err)
	}
	gram(f.g, f.a, f.b)
	if !f.small() {
		return failed(m, "exponential", errNoSingularValues)
	}
	f.function(f.h, f.t, blas.Trans, math.Cos)
	f.function(f.g, f.u, blas.NoTrans, math.Sin)
	clear(f.b.Data)
	addProduct(f.b, 1, f.c, f.h)
	addProduct(f.b, 1, f.a, f.g)
	f.a, f.b = f.b, f.a
	if err := f.polar(); err != nil {
		return failed(m, "exponential", err)
	}
	store(dst, f.b)
	return nil
}

// small computes the singular value decomposition of the p x p matrix f.g: the left singular vectors f.u, the
// singular values f.sigma and the transposed right singular vectors f.t.
func (f *frame) small() bool {
	return lapack64.Gesvd(lapack.SVDAll, lapack.SVDAll, f.g, f.u, f.t, f.sigma, f.work, len(f.work))
}

// function writes M diag(of(s)) W' into dst, with the singular values s and the right singular vectors W' = f.t; M
// is left, or its transpose if transposed is blas.Trans.
func (f *frame) function(dst, left blas64.General, transposed blas.Transpose, of func(float64) float64) {
	for i := range f.p {
		for j, s := range f.sigma {
			entry := left.Data[i*f.p+j]
			if transposed == blas.Trans {
				entry = left.Data[j*f.p+i]
			}
			f.s.Data[i*f.p+j] = entry * of(s)
		}
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, f.s, f.t, 0, dst)
}

// errNoSingularValues says that a decomposition failed.
var errNoSingularValues = errors.New("the singular values did not converge")

// angles computes the principal angles between the subspaces of A and B into f.sigma. It writes BQ - AR cos into
// C, where B'A = Q cos R', and R' into f.t. The columns of C are orthogonal, with the sines as lengths. Sines and
// cosines together give accurate angles near 0 and near pi/2.
func (f *frame) angles() error {
	gram(f.g, f.b, f.a)
	if nonFinite(f.g.Data) >= 0 {
		return errNoPoint
	}
	if !f.small() {
		return errNoSingularValues
	}
	clear(f.c.Data)
	addProduct(f.c, 1, f.b, f.u)
	for i := range f.p { // R cos
		for j, cos := range f.sigma {
			f.g.Data[i*f.p+j] = f.t.Data[j*f.p+i] * cos
		}
	}
	addProduct(f.c, -1, f.a, f.g)
	for i, cos := range f.sigma {
		f.sigma[i] = math.Atan2(floats.Norm(row(f.c, i), 2), cos)
	}
	return nil
}

// Log writes the tangent vector at X whose geodesic leads to the subspace of Y, for any basis Y of it. Where a
// principal angle is pi/2, Log chooses one of several shortest geodesics. It fails where X or Y is not finite.
//
// Source: Bendokat, Zimmermann, Absil (2024), section 5.2, with angles from
// cosines and sines.
func (m *Grassmann) Log(dst, x, y []float64) error {
	mustFit(m.Size(), dst, x, y)
	f := m.frame()
	defer m.frames.Put(f)
	load(f.a, x)
	load(f.b, y)
	if err := f.angles(); err != nil {
		return failed(m, "logarithm", err)
	}
	for i, angle := range f.sigma {
		if sin := floats.Norm(row(f.c, i), 2); sin > 0 {
			floats.Scale(angle/sin, row(f.c, i))
		}
	}
	clear(f.b.Data)
	addProduct(f.b, 1, f.c, f.t)
	f.horizontal(f.b, f.a)
	store(dst, f.b)
	return nil
}

// Distance is the root of the sum of the squared principal angles. It fails where
// X or Y is not finite.
func (m *Grassmann) Distance(x, y []float64) (float64, error) {
	mustFit(m.Size(), x, y)
	f := m.frame()
	defer m.frames.Put(f)
	load(f.a, x)
	load(f.b, y)
	if err := f.angles(); err != nil {
		return 0, failed(m, "distance", err)
	}
	return floats.Norm(f.sigma, 2), nil
}

// Transport writes the projection of v on the tangent space at y, which must be a basis near x, as Retract and Exp
// write it.
func (m *Grassmann) Transport(dst, x, y, v []float64) {
	mustFit(m.Size(), x)
	m.Project(dst, y, v)
}

// RiemannianHessian writes the projection of H, less V sym(X'G); for costs that
// depend on the subspace only, X'G is symmetric.
func (m *Grassmann) RiemannianHessian(dst, x, g, h, v []float64) {
	mustFit(m.Size(), dst, x, g, h, v)
	f := m.frame()
	defer m.frames.Put(f)
	f.turned(x, g, h, v)
	f.horizontal(f.b, f.a)
	store(dst, f.b)
}

// Same writes XQ with a uniformly distributed orthogonal p x p matrix Q.
func (m *Grassmann) Same(dst, x []float64, rng *rand.Rand) {
	mustFit(m.Size(), dst, x)
	q, rotated := zeros(m.p, m.p), zeros(m.n, m.p)
	newFrame(m.p, m.p).rand(q.Data, rng)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, matrix(m.n, m.p, x), q, 0, rotated)
	copy(dst, rotated.Data)
}
