package manifolds

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Stiefel is St(n, p), the set of n x p matrices X with X'X = I, with the inner
// product trace(U'V) of R^{n x p}. Its tangent vectors at X are the V for which
// X'V is skew-symmetric. Matrices are row-major.
//
// Its methods, except Exp, Log and Distance, reuse their memory. Large factorizations (QR for p > 128, polar for p
// > 32) run in blocks, which gonum spreads over several goroutines without changing a bit of the result.
//
// Source: A. Edelman, T. A. Arias, S. T. Smith, The geometry of algorithms with
// orthogonality constraints, SIAM J. Matrix Anal. Appl. 20 (1998) 303-353.
type Stiefel struct {
	tall
	polar bool
}

// NewStiefel returns St(n, p) for 1 <= p <= n, with the cheapest retraction:
// the factor Q of the QR factorization of X + V with positive diag(R), which
// agrees with the geodesic to first order. It panics for other shapes.
func NewStiefel(n, p int) *Stiefel {
	m := new(Stiefel)
	m.init("stiefel", n, p)
	return m
}

// NewPolarStiefel returns St(n, p) like [NewStiefel], with the polar retraction
// (X + V)(I + V'V)^{-1/2}: the point nearest to X + V, which agrees with the
// geodesic to second order.
func NewPolarStiefel(n, p int) *Stiefel {
	m := NewStiefel(n, p)
	m.polar = true
	return m
}

// Dim is np - p(p+1)/2.
func (m *Stiefel) Dim() int { return m.n*m.p - m.p*(m.p+1)/2 }

// Project writes V - X sym(X'V).
func (m *Stiefel) Project(dst, x, v []float64) {
	mustFit(m.Size(), dst, x, v)
	f := m.frame()
	defer m.frames.Put(f)
	load(f.a, x)
	load(f.b, v)
	f.projectTangent(f.b, f.a)
	store(dst, f.b)
}

// Retract writes the factor Q of X + V or, after [NewPolarStiefel], the polar factor. It fails where X + V is not
// finite.
func (m *Stiefel) Retract(dst, x, v []float64) error {
	mustFit(m.Size(), dst, x, v)
	f := m.frame()
	defer m.frames.Put(f)
	if m.polar {
		if err := f.retractPolar(dst, x, v); err != nil {
			return failed(m, "polar retraction of x+v", err)
		}
		return nil
	}
	load(f.a, x)
	load(f.b, v)
	floats.Add(f.a.Data, f.b.Data)
	if err := f.qf(); err != nil {
		return failed(m, "retraction of x+v", err)
	}
	store(dst, f.a)
	return nil
}

// RetractionOrder is 2 for the polar retraction, else 1.
func (m *Stiefel) RetractionOrder() int {
	if m.polar {
		return 2
	}
	return 1
}

// Transport writes the projection of v on the tangent space at y.
func (m *Stiefel) Transport(dst, x, y, v []float64) {
	mustFit(m.Size(), x)
	m.Project(dst, y, v)
}

// RiemannianHessian writes the projection of H - V sym(X'G).
//
// Source: P.-A. Absil, R. Mahony, J. Trumpf, An extrinsic look at the
// Riemannian Hessian, Geometric Science of Information (2013) 361-368.
func (m *Stiefel) RiemannianHessian(dst, x, g, h, v []float64) {
	mustFit(m.Size(), dst, x, g, h, v)
	f := m.frame()
	defer m.frames.Put(f)
	f.turned(x, g, h, v)
	f.projectTangent(f.b, f.a)
	store(dst, f.b)
}

// longestGeodesic is the length, in radians, up to which more than half of the digits of the end of a geodesic are
// correct.
const longestGeodesic = 0x1p26

// Exp writes the end of the geodesic
//
//	[X Q] exp([2A -R'; R 0]) [I; 0] exp(-A),  A = X'V,  QR = V - XA.
//
// It fails where V is not finite or longer than 2^26, beyond which rounding
// leaves too few digits of the angles.
//
// Source: Edelman, Arias, Smith (1998), section 2.2.2, in the form of
// R. Zimmermann, K. Hueper, Computing the Riemannian logarithm on the Stiefel
// manifold, SIAM J. Matrix Anal. Appl. 43 (2022) 953-980, where the exponents
// are skew-symmetric.
func (m *Stiefel) Exp(dst, x, v []float64) error {
	mustFit(m.Size(), dst, x, v)
	if length := floats.Norm(v, 2); !(length <= longestGeodesic) {
		return failed(m, "exponential", fmt.Errorf("the length of v is %g", length))
	}
	f := m.frame()
	defer m.frames.Put(f)
	load(f.c, x)
	load(f.a, v)
	gram(f.h, f.c, f.a)
	addProduct(f.a, -1, f.c, f.h)
	copy(f.b.Data, f.a.Data)
	if err := f.qf(); err != nil {
		return failed(m, "exponential", err)
	}
	gram(f.u, f.a, f.b)

	var turn, back, ends mat.Dense
	turn.Exp(geodesicExponent(f.h, f.u))
	back.Exp(mat.NewDense(m.p, m.p, f.h.Data).T()) // A' = -A
	ends.Mul(turn.Slice(0, 2*m.p, 0, m.p), &back)
	clear(f.b.Data)
	addProduct(f.b, 1, f.c, ends.Slice(0, m.p, 0, m.p).(*mat.Dense).RawMatrix())
	addProduct(f.b, 1, f.a, ends.Slice(m.p, 2*m.p, 0, m.p).(*mat.Dense).RawMatrix())

	// The exponentials are orthogonal only up to rounding times the length.
	f.a, f.b = f.b, f.a
	if err := f.polar(); err != nil {
		return failed(m, "exponential", err)
	}
	store(dst, f.b)
	return nil
}

// geodesicExponent returns the skew-symmetric matrix [2A -R'; R 0].
func geodesicExponent(a, r blas64.General) *mat.Dense {
	p := a.Rows
	k := mat.NewDense(p+r.Rows, p+r.Rows, nil)
	for j := range p {
		for i := range p {
			k.Set(i, j, 2*a.Data[i*p+j])
		}
		for i := range r.Rows {
			k.Set(p+i, j, r.Data[i*p+j])
			k.Set(j, p+i, -r.Data[i*p+j])
		}
	}
	return k
}
