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

// Rotations is SO(n), the set of n x n matrices X with X'X = I and det X = 1,
// with the inner product trace(U'V) of R^{n x n}: the distance of rotations by
// an angle of t in one plane is sqrt(2) t. Its tangent vectors at X are XW with
// a skew-symmetric W. Matrices are row-major.
//
// A rigid motion of R^n, an element of SE(n), is a point of the product of
// Rotations and [Euclidean], see [NewProduct].
//
// Its methods reuse allocated memory in the next call. For n > 3, Exp, Log and Distance compute eigenvalues, for
// which gonum allocates a few small arrays.
//
// Sources: P.-A. Absil, R. Mahony, R. Sepulchre, Optimization Algorithms on
// Matrix Manifolds, Princeton 2008; N. Boumal, An Introduction to Optimization
// on Smooth Manifolds, Cambridge 2023, section 7.4.
type Rotations struct {
	n     int
	turns sync.Pool
}

// NewRotations returns SO(n) for n of at least 1. It panics for others.
func NewRotations(n int) *Rotations {
	atLeast(1, "rotations", n)
	return &Rotations{n: n, turns: sync.Pool{New: func() any { return newTurn(n) }}}
}

// String returns a name such as "rotations 3".
func (m *Rotations) String() string { return fmt.Sprintf("rotations %d", m.n) }

// Size is n^2.
func (m *Rotations) Size() int { return m.n * m.n }

// Dim is n(n-1)/2.
func (m *Rotations) Dim() int { return m.n * (m.n - 1) / 2 }

func (m *Rotations) turn() *turn { return m.turns.Get().(*turn) }

// wrap returns the n x n matrix whose entries are x.
func (m *Rotations) wrap(x []float64) blas64.General {
	return matrix(m.n, m.n, x)
}

// times writes X W into dst, through t.b.
func (m *Rotations) times(t *turn, dst, x []float64, w blas64.General) {
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, m.wrap(x), w, 0, t.b)
	copy(dst, t.b.Data)
}

// Project writes X skew(X'V).
func (m *Rotations) Project(dst, x, v []float64) {
	mustFit(m.Size(), dst, x, v)
	t := m.turn()
	defer m.turns.Put(t)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, m.wrap(x), m.wrap(v), 0, t.a)
	skew(t.a)
	m.times(t, dst, x, t.a)
}

// Retract writes the rotation nearest to X + V, which agrees with the geodesic
// to second order. It fails where X + V is not finite.
func (m *Rotations) Retract(dst, x, v []float64) error {
	mustFit(m.Size(), dst, x, v)
	t := m.turn()
	defer m.turns.Put(t)
	floats.AddTo(t.a.Data, x, v)
	if err := t.nearest(); err != nil {
		return failed(m, "retraction of x+v", err)
	}
	copy(dst, t.b.Data)
	return nil
}

// RetractionOrder is 2.
func (*Rotations) RetractionOrder() int { return 2 }

// Exp writes X exp(X'V). It fails where V is not finite or longer than 2^26,
// beyond which rounding leaves too few digits of the angles.
func (m *Rotations) Exp(dst, x, v []float64) error {
	mustFit(m.Size(), dst, x, v)
	if length := floats.Norm(v, 2); !(length <= longestGeodesic) {
		return failed(m, "exponential", fmt.Errorf("the length of v is %g", length))
	}
	t := m.turn()
	defer m.turns.Put(t)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, m.wrap(x), m.wrap(v), 0, t.a)
	skew(t.a)
	if err := t.exp(); err != nil {
		return failed(m, "exponential", err)
	}
	m.times(t, dst, x, t.a)
	return nil
}

// Log writes X log(X'Y) with rotation angles between 0 and pi. If an angle is pi there are several shortest
// geodesics, and it chooses one. It fails if X'Y is not a rotation.
func (m *Rotations) Log(dst, x, y []float64) error {
	mustFit(m.Size(), dst, x, y)
	t := m.turn()
	defer m.turns.Put(t)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, m.wrap(x), m.wrap(y), 0, t.a)
	if err := t.log(); err != nil {
		return failed(m, "logarithm", err)
	}
	m.times(t, dst, x, t.a)
	return nil
}

// Distance is sqrt(2 sum t_i^2) with the angles t_i, from 0 to pi, by which X'Y
// turns planes. It fails where X'Y is no rotation.
func (m *Rotations) Distance(x, y []float64) (float64, error) {
	mustFit(m.Size(), x, y)
	t := m.turn()
	defer m.turns.Put(t)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, m.wrap(x), m.wrap(y), 0, t.a)
	if err := t.log(); err != nil {
		return 0, failed(m, "distance", err)
	}
	return floats.Norm(t.a.Data, 2), nil
}

// Transport writes Y skew(X'V), which keeps lengths and angles: the translation
// of the group from X to Y.
func (m *Rotations) Transport(dst, x, y, v []float64) {
	mustFit(m.Size(), dst, x, y, v)
	t := m.turn()
	defer m.turns.Put(t)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, m.wrap(x), m.wrap(v), 0, t.a)
	skew(t.a)
	m.times(t, dst, y, t.a)
}

// RiemannianHessian writes the projection of H - V sym(X'G).
func (m *Rotations) RiemannianHessian(dst, x, g, h, v []float64) {
	mustFit(m.Size(), dst, x, g, h, v)
	t := m.turn()
	defer m.turns.Put(t)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, m.wrap(x), m.wrap(g), 0, t.a)
	symmetrize(t.a)
	copy(t.b.Data, h)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, m.wrap(v), t.a, 1, t.b)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, m.wrap(x), t.b, 0, t.a)
	skew(t.a)
	m.times(t, dst, x, t.a)
}

// Rand draws a point from the uniform (Haar) distribution, as [Stiefel.Rand]
// does, with the first column reversed where the determinant is negative.
func (m *Rotations) Rand(dst []float64, rng *rand.Rand) {
	mustFit(m.Size(), dst)
	t := m.turn()
	defer m.turns.Put(t)
	t.orthogonal.rand(dst, rng)
	if t.determinantSign(dst) < 0 {
		for i := range m.n {
			dst[i*m.n] = -dst[i*m.n]
		}
	}
}

// Violation is the largest entry of |X'X - I|, at least 2 where the determinant
// is not positive, or +Inf where X is not finite.
func (m *Rotations) Violation(x []float64) float64 {
	mustFit(m.Size(), x)
	t := m.turn()
	defer m.turns.Put(t)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, m.wrap(x), m.wrap(x), 0, t.a)
	if nonFinite(t.a.Data) >= 0 {
		return math.Inf(1)
	}
	off := distanceToIdentity(t.a)
	if t.determinantSign(x) <= 0 {
		return math.Max(off, 2)
	}
	return off
}

// Restore replaces X by the nearest rotation. It fails where X is not finite, or
// several rotations are the nearest, as for the matrix 0.
//
// Source: W. Kabsch, A solution for the best rotation to relate two sets of
// vectors, Acta Cryst. A32 (1976) 922-923.
func (m *Rotations) Restore(x []float64) error {
	mustFit(m.Size(), x)
	t := m.turn()
	defer m.turns.Put(t)
	copy(t.a.Data, x)
	if err := t.nearest(); err != nil {
		return failed(m, "restoring x", err)
	}
	copy(x, t.b.Data)
	return nil
}

// skew replaces w by (w - w')/2.
func skew(w blas64.General) {
	for i := range w.Rows {
		w.Data[i*w.Stride+i] = 0
		for j := range i {
			half := (w.Data[i*w.Stride+j] - w.Data[j*w.Stride+i]) / 2
			w.Data[i*w.Stride+j], w.Data[j*w.Stride+i] = half, -half
		}
	}
}

// errNoRotation reports that the argument of a logarithm is not a rotation.
var errNoRotation = errors.New("x'y is no rotation: x or y is off the manifold or not finite")
