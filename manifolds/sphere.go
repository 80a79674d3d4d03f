package manifolds

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// Sphere is the set of unit vectors of R^n, for n at least 1, with the inner
// product of R^n. Its tangent vectors at x are orthogonal to x.
type Sphere int

// String returns a name such as "sphere 3"; the number is that of coordinates.
func (m Sphere) String() string { return fmt.Sprintf("sphere %d", int(m)) }

// Size is n.
func (m Sphere) Size() int { return atLeast(1, "sphere", int(m)) }

// Dim is n - 1.
func (m Sphere) Dim() int { return m.Size() - 1 }

// Project writes v - x (x'v).
func (m Sphere) Project(dst, x, v []float64) {
	mustFit(int(m), dst, x, v)
	floats.AddScaledTo(dst, v, -floats.Dot(x, v), x)
}

// Retract writes (x + v) / |x + v|, which agrees with the geodesic to second
// order. It fails where x + v is not finite.
func (m Sphere) Retract(dst, x, v []float64) error {
	mustFit(int(m), dst, x, v)
	floats.AddTo(dst, x, v)
	return failed(m, "retraction", normalize(dst))
}

// RetractionOrder is 2.
func (Sphere) RetractionOrder() int { return 2 }

// Exp writes the end of the great arc cos(|v|) x + sin(|v|) v/|v|. It fails
// where the length of v is not finite.
func (m Sphere) Exp(dst, x, v []float64) error {
	mustFit(int(m), dst, x, v)
	angle := floats.Norm(v, 2)
	if math.IsNaN(angle) || math.IsInf(angle, 0) {
		return failed(m, "exponential", fmt.Errorf("the length of v is %g", angle))
	}
	sin, cos := math.Sincos(angle)
	if angle > 0 {
		sin /= angle
	} else {
		sin = 1
	}
	for i, xi := range x {
		dst[i] = cos*xi + sin*v[i]
	}
	return failed(m, "exponential", normalize(dst))
}

// Log writes the tangent vector at x, of length at most pi, whose great arc leads to y. At
// y = -x, where all directions are equally short, it writes one of them. It fails in R^1
// if y = -x, and if x or y is not finite.
func (m Sphere) Log(dst, x, y []float64) error {
	mustFit(int(m), dst, x, y)
	angle, err := m.Distance(x, y)
	if err != nil {
		return err
	}
	if angle < math.Pi/2 {
		// The length of this is sin(angle), its difference keeps the digits of
		// short steps.
		var along float64
		for i, xi := range x {
			along += xi * (y[i] - xi)
		}
		scale := 1.0
		if angle > 0 {
			scale = angle / math.Sin(angle)
		}
		for i, xi := range x {
			dst[i] = scale * (y[i] - xi - along*xi)
		}
		return nil
	}
	return m.logFar(dst, x, y, angle)
}

// logFar is Log for angles of at least pi/2. It uses the difference of y and -x, which is
// more accurate. Near -x it makes this orthogonal to x twice, because the first time
// leaves rounding errors.
func (m Sphere) logFar(dst, x, y []float64, angle float64) error {
	var along, normal, length float64
	for i, xi := range x {
		along += xi * (y[i] + xi)
	}
	direction := func(i int) float64 { return y[i] + x[i] - along*x[i] }
	for i, xi := range x {
		normal += direction(i) * xi
	}
	for i, xi := range x {
		length = math.Hypot(length, direction(i)-normal*xi)
	}
	if length < 0x1p-50 {
		return m.logAntipode(dst, x, angle)
	}
	for i, xi := range x {
		dst[i] = angle / length * (direction(i) - normal*xi)
	}
	return nil
}

// logAntipode writes a tangent vector of length angle: along the projection of the
// coordinate axis that is most nearly orthogonal to x.
func (m Sphere) logAntipode(dst, x []float64, angle float64) error {
	if m == 1 {
		return failed(m, "logarithm", errors.New("no arc leads from x to -x"))
	}
	axis := 0
	for i, xi := range x {
		if math.Abs(xi) < math.Abs(x[axis]) {
			axis = i
		}
	}
	c := x[axis]
	scale := angle / math.Sqrt(1-c*c)
	for i, xi := range x {
		dst[i] = -scale * c * xi
	}
	dst[axis] += scale
	return nil
}

// Distance is the angle between x and y, from 0 to pi. It fails where x or y is
// not finite.
func (m Sphere) Distance(x, y []float64) (float64, error) {
	mustFit(int(m), x, y)
	var minus, plus float64
	for i, xi := range x {
		minus += (xi - y[i]) * (xi - y[i])
		plus += (xi + y[i]) * (xi + y[i])
	}
	if s := minus + plus; s-s != 0 {
		return 0, failed(m, "distance", errNoPoint)
	}
	return 2 * math.Atan2(math.Sqrt(minus), math.Sqrt(plus)), nil
}

// Transport writes the parallel transport of v along the shorter great arc from
// x to y, which keeps lengths and angles,
//
//	v - (y'v) / (1 + x'y) (x + y).
//
// At y = -x, where no arc is shorter than the others, it copies v.
func (m Sphere) Transport(dst, x, y, v []float64) {
	mustFit(int(m), dst, x, y, v)
	var c float64
	if d := 1 + floats.Dot(x, y); d > 0 {
		c = floats.Dot(y, v) / d
	}
	for i, vi := range v {
		dst[i] = vi - c*(x[i]+y[i])
	}
}

// RiemannianHessian writes the projection of h - v (x'g).
func (m Sphere) RiemannianHessian(dst, x, g, h, v []float64) {
	mustFit(int(m), dst, x, g, h, v)
	// x'v = 0, so that only h has a normal part.
	gx, hx := floats.Dot(x, g), floats.Dot(x, h)
	for i, hi := range h {
		dst[i] = hi - gx*v[i] - hx*x[i]
	}
}

// Rand draws a uniformly distributed point.
func (m Sphere) Rand(dst []float64, rng *rand.Rand) {
	Euclidean(m).Rand(dst, rng)
	for normalize(dst) != nil {
		Euclidean(m).Rand(dst, rng)
	}
}

// Violation is | |x|^2 - 1 |, or +Inf where x is not finite.
func (m Sphere) Violation(x []float64) float64 {
	mustFit(int(m), x)
	if nonFinite(x) >= 0 {
		return math.Inf(1)
	}
	return math.Abs(floats.Dot(x, x) - 1)
}

// Restore divides x by its length. It fails where x is zero or not finite.
func (m Sphere) Restore(x []float64) error {
	mustFit(int(m), x)
	return failed(m, "restoring", normalize(x))
}

// normalize divides x by its length.
func normalize(x []float64) error {
	if err := checkFinite(x); err != nil {
		return err
	}
	norm := floats.Norm(x, 2)
	if norm == 0 {
		return errors.New("the zero vector has no direction")
	}
	if norm < 0x1p-1000 || norm > 0x1p1000 {
		// Near the ends of the range the length has lost digits or overflowed.
		_, e := math.Frexp(floats.Norm(x, math.Inf(1)))
		for i := range x {
			x[i] = math.Ldexp(x[i], -e)
		}
		norm = floats.Norm(x, 2)
	}
	floats.Scale(1/norm, x)
	return nil
}
