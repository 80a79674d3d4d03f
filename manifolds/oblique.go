package manifolds

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/scqm/scqm/internal/dense"
)

// Oblique is OB(n, m), the set of n x m matrices whose columns are unit vectors,
// with the inner product trace(U'V) of R^{n x m}: the product of m spheres of
// R^n. Matrices are row-major. Where the unit vectors are rows, a block of m
// copies of [Sphere] is the same manifold without transposition.
//
// Source: P.-A. Absil, K. A. Gallivan, Joint diagonalization on the oblique
// manifold for independent component analysis, ICASSP 2006, V-945-948.
type Oblique struct {
	n, m    int
	columns sync.Pool
	sums    sync.Pool
}

// NewOblique returns OB(n, m) for n and m of at least 1. It panics for other
// shapes.
func NewOblique(n, m int) *Oblique {
	if n < 1 || m < 1 {
		panic(fmt.Sprintf("manifolds: oblique %dx%d: the shape must have at least one row and one column", n, m))
	}
	return &Oblique{
		n: n, m: m,
		columns: sync.Pool{New: func() any {
			c := new(columns)
			for i := range c.data {
				c.data[i] = make([]float64, n*m)
			}
			return c
		}},
		sums: sync.Pool{New: func() any { return &columnSums{make([]float64, m), make([]float64, m)} }},
	}
}

// columnSums is scratch space: two numbers for each column. Frequent operations of solvers use it to traverse the
// matrix by rows, which is four times as fast as by columns.
type columnSums struct{ first, second []float64 }

// products gives scratch space with the inner products of the columns of A and B.
func (m *Oblique) products(a, b []float64) *columnSums {
	s := m.sums.Get().(*columnSums)
	addProducts(s.first, a, b)
	return s
}

// addProducts overwrites sums with the inner products of the columns of A and B.
func addProducts(sums, a, b []float64) {
	clear(sums)
	for len(a) > 0 {
		u, v := a[:len(sums)], b[:len(sums)]
		for j := range sums {
			sums[j] += u[j] * v[j]
		}
		a, b = a[len(sums):], b[len(sums):]
	}
}

// columns is scratch space: matrices held by columns, a destination and up to
// four inputs, and one column of each input.
type columns struct {
	data   [5][]float64
	column [4][]float64
}

// String returns a name such as "oblique 3x10".
func (m *Oblique) String() string { return fmt.Sprintf("oblique %dx%d", m.n, m.m) }

// Size is nm.
func (m *Oblique) Size() int { return m.n * m.m }

// Dim is (n - 1) m.
func (m *Oblique) Dim() int { return (m.n - 1) * m.m }

// sphere is the manifold of one column.
func (m *Oblique) sphere() Sphere { return Sphere(m.n) }

// each applies an operation of the sphere to every column of the inputs and of
// dst, which may be nil.
func (m *Oblique) each(operation string, do func(dst []float64, in *[4][]float64) error, dst []float64, in ...[]float64) error {
	c := m.columns.Get().(*columns)
	defer m.columns.Put(c)
	for i, x := range in {
		mustFit(m.Size(), x)
		dense.Transpose(c.data[i+1], x, m.n, m.m)
	}
	for j := range m.m {
		from, to := j*m.n, (j+1)*m.n
		for i := range in {
			c.column[i] = c.data[i+1][from:to]
		}
		if err := do(c.data[0][from:to], &c.column); err != nil {
			return failed(m, operation, fmt.Errorf("column %d: %w", j, err))
		}
	}
	if dst != nil {
		mustFit(m.Size(), dst)
		dense.Transpose(dst, c.data[0], m.m, m.n)
	}
	return nil
}

// Project writes V - X diag(X'V).
func (m *Oblique) Project(dst, x, v []float64) {
	mustFit(m.Size(), dst, x, v)
	s := m.products(x, v)
	for at := 0; at < len(x); at += m.m {
		dst, x, v := dst[at:at+m.m], x[at:at+m.m], v[at:at+m.m]
		for j, c := range s.first {
			dst[j] = v[j] - c*x[j]
		}
	}
	m.sums.Put(s)
}

// Retract divides the columns of X + V by their lengths, which agrees with the
// geodesic to second order. It fails where X + V is not finite.
func (m *Oblique) Retract(dst, x, v []float64) error {
	mustFit(m.Size(), dst, x, v)
	s := m.sums.Get().(*columnSums)
	defer m.sums.Put(s)
	clear(s.first)
	for at := 0; at < len(x); at += m.m {
		x, v := x[at:at+m.m], v[at:at+m.m]
		for j := range s.first {
			t := x[j] + v[j]
			s.first[j] += t * t
		}
	}
	for j, square := range s.first {
		if !(square > 0x1p-900 && square < 0x1p900) { // what is lost, or no length at all
			return m.each("retraction", func(dst []float64, in *[4][]float64) error {
				return m.sphere().Retract(dst, in[0], in[1])
			}, dst, x, v)
		}
		s.first[j] = 1 / math.Sqrt(square)
	}
	for at := 0; at < len(x); at += m.m {
		dst, x, v := dst[at:at+m.m], x[at:at+m.m], v[at:at+m.m]
		for j, c := range s.first {
			dst[j] = c * (x[j] + v[j])
		}
	}
	return nil
}

// RetractionOrder is 2.
func (*Oblique) RetractionOrder() int { return 2 }

// Exp moves every column along its great arc. It fails where the length of a
// column of V is not finite.
func (m *Oblique) Exp(dst, x, v []float64) error {
	return m.each("exponential", func(dst []float64, in *[4][]float64) error {
		return m.sphere().Exp(dst, in[0], in[1])
	}, dst, x, v)
}

// Log writes the tangent vector whose great arcs lead from X to Y, see
// [Sphere.Log].
func (m *Oblique) Log(dst, x, y []float64) error {
	return m.each("logarithm", func(dst []float64, in *[4][]float64) error {
		return m.sphere().Log(dst, in[0], in[1])
	}, dst, x, y)
}

// Distance is the root of the sum of the squared angles between columns. It
// fails where X or Y is not finite.
func (m *Oblique) Distance(x, y []float64) (float64, error) {
	var sum float64
	err := m.each("distance", func(_ []float64, in *[4][]float64) error {
		d, err := m.sphere().Distance(in[0], in[1])
		sum = math.Hypot(sum, d)
		return err
	}, nil, x, y)
	if err != nil {
		return 0, err
	}
	return sum, nil
}

// Transport writes the parallel transport along the shorter great arcs from X
// to Y, see [Sphere.Transport].
func (m *Oblique) Transport(dst, x, y, v []float64) {
	mustFit(m.Size(), dst, x, y, v)
	s := m.products(y, v)
	addProducts(s.second, x, y)
	for j, c := range s.second {
		if d := 1 + c; d > 0 {
			s.first[j] /= d
		} else {
			s.first[j] = 0
		}
	}
	for at := 0; at < len(x); at += m.m {
		dst, x, y, v := dst[at:at+m.m], x[at:at+m.m], y[at:at+m.m], v[at:at+m.m]
		for j, c := range s.first {
			dst[j] = v[j] - c*(x[j]+y[j])
		}
	}
	m.sums.Put(s)
}

// RiemannianHessian writes the projection of H - V diag(X'G).
func (m *Oblique) RiemannianHessian(dst, x, g, h, v []float64) {
	mustFit(m.Size(), dst, x, g, h, v)
	s := m.products(x, g)
	addProducts(s.second, x, h)
	for at := 0; at < len(x); at += m.m {
		dst, x, h, v := dst[at:at+m.m], x[at:at+m.m], h[at:at+m.m], v[at:at+m.m]
		for j, c := range s.first {
			dst[j] = h[j] - c*v[j] - s.second[j]*x[j]
		}
	}
	m.sums.Put(s)
}

// Rand draws independent, uniformly distributed columns.
func (m *Oblique) Rand(dst []float64, rng *rand.Rand) {
	_ = m.each("random point", func(dst []float64, _ *[4][]float64) error {
		m.sphere().Rand(dst, rng)
		return nil
	}, dst)
}

// Violation is the largest of | |x|^2 - 1 | over the columns x, or +Inf where X
// is not finite.
func (m *Oblique) Violation(x []float64) float64 {
	var worst float64
	_ = m.each("violation", func(_ []float64, in *[4][]float64) error {
		worst = math.Max(worst, m.sphere().Violation(in[0]))
		return nil
	}, nil, x)
	return worst
}

// Restore divides the columns of X by their lengths. It fails where one is zero
// or not finite.
func (m *Oblique) Restore(x []float64) error {
	return m.each("restoring", func(dst []float64, in *[4][]float64) error {
		copy(dst, in[0])
		return m.sphere().Restore(dst)
	}, x, x)
}
