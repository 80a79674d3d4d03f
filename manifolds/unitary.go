package manifolds

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// NewComplexCircle returns the set of vectors of n complex numbers of modulus 1, as a
// product of n circles. A point is stored as n pairs of real and imaginary parts.
func NewComplexCircle(n int) Product {
	return NewProduct(framework.Block{Name: "z", Manifold: Sphere(2), Copies: n})
}

// Unitary is U(n), the complex n x n matrices Z with Z*Z = I, with the real inner product
// Re trace(U*V). A matrix is row-major, each entry a pair of a real and an imaginary part; the
// gradient of a cost has the derivatives with respect to both. Tangent vectors are ZW with a
// skew-Hermitian W.
//
// With real part A and imaginary part B, the matrices [A -B; B A] are rotations of order 2n. They are
// a totally geodesic submanifold of [Rotations], whose formulas the methods use.
type Unitary struct {
	n         int
	rotations *Rotations
	pool      sync.Pool
}

// NewUnitary returns U(n). It panics for n below 1.
func NewUnitary(n int) *Unitary {
	atLeast(1, "unitary", n)
	return &Unitary{n: n, rotations: NewRotations(2 * n), pool: sync.Pool{New: func() any {
		var w [6][]float64
		for i := range w {
			w[i] = make([]float64, 4*n*n)
		}
		return &w
	}}}
}

// String returns a name such as "unitary 3".
func (m *Unitary) String() string { return fmt.Sprintf("unitary %d", m.n) }

// Size is 2n^2.
func (m *Unitary) Size() int { return 2 * m.n * m.n }

// Dim is n^2.
func (m *Unitary) Dim() int { return m.n * m.n }

// real does an operation on matrices [A -B; B A]: w[0] receives the result, w[1:] hold the operands.
func (m *Unitary) real(operation string, dst []float64, do func(w *[6][]float64) error, in ...[]float64) error {
	mustFit(m.Size(), in...)
	w := m.pool.Get().(*[6][]float64)
	defer m.pool.Put(w)
	n := m.n
	for k, z := range in {
		for i := range n {
			for j := range n {
				a, b := z[2*(i*n+j)], z[2*(i*n+j)+1]
				x := w[k+1]
				x[2*i*n+j], x[2*(i+n)*n+n+j] = a, a
				x[2*(i+n)*n+j], x[2*i*n+n+j] = b, -b
			}
		}
	}
	if err := do(w); err != nil {
		return failed(m, operation, err)
	}
	if dst == nil {
		return nil
	}
	mustFit(m.Size(), dst)
	for i := range n {
		for j := range n {
			x := w[0]
			dst[2*(i*n+j)] = (x[2*i*n+j] + x[2*(i+n)*n+n+j]) / 2
			dst[2*(i*n+j)+1] = (x[2*(i+n)*n+j] - x[2*i*n+n+j]) / 2
		}
	}
	return nil
}

// Project writes Z skew(Z*V).
func (m *Unitary) Project(dst, x, v []float64) {
	_ = m.real("", dst, func(w *[6][]float64) error { m.rotations.Project(w[0], w[1], w[2]); return nil }, x, v)
}

// Retract writes the unitary matrix nearest to Z + V, which agrees with the geodesic to second
// order. It fails where Z + V is not finite.
func (m *Unitary) Retract(dst, x, v []float64) error {
	return m.real("retraction", dst, func(w *[6][]float64) error { return m.rotations.Retract(w[0], w[1], w[2]) }, x, v)
}

// RetractionOrder is 2.
func (*Unitary) RetractionOrder() int { return 2 }

// Exp writes Z exp(Z*V). It fails as [Rotations.Exp] does.
func (m *Unitary) Exp(dst, x, v []float64) error {
	return m.real("exponential", dst, func(w *[6][]float64) error { return m.rotations.Exp(w[0], w[1], w[2]) }, x, v)
}

// Log writes Z log(Z*Y) with angles between -pi and pi. It fails where Z*Y is not unitary, and
// where it has the eigenvalue -1 more than once, so that there are many shortest geodesics.
func (m *Unitary) Log(dst, x, y []float64) error {
	var length float64
	err := m.real("logarithm", dst, func(w *[6][]float64) error {
		err := m.rotations.Log(w[0], w[1], w[2])
		length = floats.Norm(w[0], 2) / math.Sqrt2
		return err
	}, x, y)
	if err == nil && floats.Norm(dst, 2) < length*(1-1e-9) { // what is left is no matrix of this form
		return failed(m, "logarithm", errors.New("several geodesics are the shortest"))
	}
	return err
}

// Distance is the root of the sum of the squared angles of the eigenvalues of X*Y. It
// fails if X*Y is not unitary.
func (m *Unitary) Distance(x, y []float64) (far float64, err error) {
	err = m.real("distance", nil, func(w *[6][]float64) (err error) {
		far, err = m.rotations.Distance(w[1], w[2])
		return err
	}, x, y)
	return far / math.Sqrt2, err
}

// Transport writes Y skew(X*V), the left translation of V to Y.
func (m *Unitary) Transport(dst, x, y, v []float64) {
	_ = m.real("", dst, func(w *[6][]float64) error { m.rotations.Transport(w[0], w[1], w[2], w[3]); return nil }, x, y, v)
}

// RiemannianHessian writes the projection of H - V herm(Z*G).
func (m *Unitary) RiemannianHessian(dst, x, g, h, v []float64) {
	_ = m.real("", dst, func(w *[6][]float64) error {
		m.rotations.RiemannianHessian(w[0], w[1], w[2], w[3], w[4])
		return nil
	}, x, g, h, v)
}

// Rand draws a point from the uniform (Haar) distribution: the unitary factor of a matrix of
// independent normal entries.
func (m *Unitary) Rand(dst []float64, rng *rand.Rand) {
	Euclidean(m.Size()).Rand(dst, rng)
	if err := m.Restore(dst); err != nil {
		panic(err) // normal deviates are finite, and regular
	}
}

// Violation is the largest real or imaginary part in Z*Z - I in magnitude, or +Inf if Z is not finite.
func (m *Unitary) Violation(x []float64) (off float64) {
	_ = m.real("", nil, func(w *[6][]float64) error { off = m.rotations.Violation(w[1]); return nil }, x)
	return off
}

// Restore replaces Z by the nearest unitary matrix. It fails if Z is not finite or the
// nearest one is not unique.
func (m *Unitary) Restore(x []float64) error {
	return m.real("restoring z", x, func(w *[6][]float64) error {
		copy(w[0], w[1])
		return m.rotations.Restore(w[0])
	}, x)
}
