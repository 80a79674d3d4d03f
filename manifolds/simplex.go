package manifolds

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/floats"
)

// Simplex is the set of probability vectors of n positive entries, whose sum is 1, with the metric of Fisher and
// Rao, sum_i u_i v_i / x_i. Tangent vectors have the sum 0. Taking the roots of the entries maps the simplex to a
// part of the unit sphere and halves all lengths.
//
// Source: S. Amari, H. Nagaoka, Methods of Information Geometry, AMS 2000, chapter 2.
type Simplex struct {
	n     int
	roots sync.Pool
}

// NewSimplex returns the simplex of vectors of n entries. It panics for n below 1.
func NewSimplex(n int) *Simplex {
	atLeast(1, "simplex", n)
	return &Simplex{n: n, roots: sync.Pool{New: func() any {
		return &[4][]float64{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
	}}}
}

// String returns a name such as "simplex 3"; the number is that of entries.
func (m *Simplex) String() string { return fmt.Sprintf("simplex %d", m.n) }

// Size is n.
func (m *Simplex) Size() int { return m.n }

// Dim is n - 1.
func (m *Simplex) Dim() int { return m.n - 1 }

func (m *Simplex) sphere() Sphere { return Sphere(m.n) }

// root writes the roots of the entries of x, a point of the unit sphere.
func root(dst, x []float64) {
	for i, t := range x {
		dst[i] = math.Sqrt(t)
	}
}

// Project writes v - x sum(v), the projection that is orthogonal in the metric.
func (m *Simplex) Project(dst, x, v []float64) {
	mustFit(m.n, dst, x, v)
	floats.AddScaledTo(dst, v, -floats.Sum(v), x)
}

// Inner is sum_i u_i v_i / x_i.
func (m *Simplex) Inner(x, u, v []float64) float64 {
	mustFit(m.n, x, u, v)
	var sum float64
	for i, t := range x {
		sum += u[i] * v[i] / t
	}
	return sum
}

// Gradient writes x_i (g_i - x'g).
func (m *Simplex) Gradient(dst, x, g []float64) {
	mustFit(m.n, dst, x, g)
	mean := floats.Dot(x, g)
	for i, t := range x {
		dst[i] = t * (g[i] - mean)
	}
}

// RiemannianHessian writes x (h - x'h) + (v g - x v'g)/2 - v x'g / 2, where vector times vector is entry by entry.
func (m *Simplex) RiemannianHessian(dst, x, g, h, v []float64) {
	mustFit(m.n, dst, x, g, h, v)
	gx, gv, hx := floats.Dot(g, x), floats.Dot(g, v), floats.Dot(h, x)
	for i, t := range x {
		dst[i] = t*(h[i]-hx) + (v[i]*(g[i]-gx)-t*gv)/2
	}
}

// Retract writes the squares of the entries of x^(1/2) + v x^(-1/2) / 2, divided by their sum. It agrees with the
// geodesic to second order, and fails where an entry is not positive.
func (m *Simplex) Retract(dst, x, v []float64) error {
	mustFit(m.n, dst, x, v)
	for i, t := range x {
		dst[i] = t + v[i] + v[i]/t*v[i]/4
	}
	floats.Scale(1/floats.Sum(dst), dst)
	if !positive(dst) {
		return failed(m, "retraction", errNotPositive)
	}
	return nil
}

// RetractionOrder is 2.
func (*Simplex) RetractionOrder() int { return 2 }

// Exp follows the great circle of the sphere that corresponds to v. It fails if that leaves the simplex.
func (m *Simplex) Exp(dst, x, v []float64) error {
	mustFit(m.n, dst, x, v)
	w := m.roots.Get().(*[4][]float64)
	defer m.roots.Put(w)
	m.lift(w, x, v)
	if err := m.sphere().Exp(w[2], w[0], w[1]); err != nil {
		return failed(m, "exponential", err)
	}
	if !positive(w[2]) {
		return failed(m, "exponential", errors.New("the geodesic leaves the simplex"))
	}
	floats.MulTo(dst, w[2], w[2])
	return nil
}

// lift writes the roots of x into w[0], and the tangent vector of the sphere that corresponds to v into w[1].
func (m *Simplex) lift(w *[4][]float64, x, v []float64) {
	root(w[0], x)
	for i, t := range w[0] {
		w[1][i] = v[i] / (2 * t)
	}
}

// lower writes the tangent vector of the simplex that corresponds to w[3] at the roots y.
func (m *Simplex) lower(dst, y []float64, w *[4][]float64) {
	for i, t := range w[3] {
		dst[i] = 2 * y[i] * t
	}
}

// Log writes the tangent vector whose geodesic leads to y. It fails if x or y is not a point of the simplex.
func (m *Simplex) Log(dst, x, y []float64) error {
	mustFit(m.n, dst, x, y)
	if !positive(x) || !positive(y) {
		return failed(m, "logarithm", errNoPoint)
	}
	w := m.roots.Get().(*[4][]float64)
	defer m.roots.Put(w)
	root(w[0], x)
	root(w[1], y)
	if err := m.sphere().Log(w[3], w[0], w[1]); err != nil {
		return failed(m, "logarithm", err)
	}
	m.lower(dst, w[0], w)
	return nil
}

// Distance is twice the angle between the roots of x and y. It fails if x or y is not a point of the simplex.
func (m *Simplex) Distance(x, y []float64) (float64, error) {
	mustFit(m.n, x, y)
	if !positive(x) || !positive(y) {
		return 0, failed(m, "distance", errNoPoint)
	}
	w := m.roots.Get().(*[4][]float64)
	defer m.roots.Put(w)
	root(w[0], x)
	root(w[1], y)
	angle, err := m.sphere().Distance(w[0], w[1])
	return 2 * angle, err
}

// Transport writes the parallel transport along the geodesic from x to y, which keeps lengths
// and angles.
func (m *Simplex) Transport(dst, x, y, v []float64) {
	mustFit(m.n, dst, x, y, v)
	w := m.roots.Get().(*[4][]float64)
	defer m.roots.Put(w)
	m.lift(w, x, v)
	root(w[2], y)
	m.sphere().Transport(w[3], w[0], w[2], w[1])
	m.lower(dst, w[2], w)
}

// Rand draws independent numbers exp(z/2), z standard normal, and divides them by their sum.
func (m *Simplex) Rand(dst []float64, rng *rand.Rand) {
	Positive(m.n).Rand(dst, rng)
	floats.Scale(1/floats.Sum(dst), dst)
}

// Violation is |sum(x) - 1|, or +Inf where an entry is not positive and finite.
func (m *Simplex) Violation(x []float64) float64 {
	mustFit(m.n, x)
	if !positive(x) {
		return math.Inf(1)
	}
	return math.Abs(floats.Sum(x) - 1)
}

// Restore divides x by its sum. It fails where an entry is not positive and finite.
func (m *Simplex) Restore(x []float64) error {
	if math.IsInf(m.Violation(x), 1) {
		return failed(m, "restoring x", errNotPositive)
	}
	// Points stay as they are, to the bit.
	if sum := floats.Sum(x); math.Abs(sum-1) > 0x1p-50 {
		floats.Scale(1/sum, x)
	}
	return nil
}
