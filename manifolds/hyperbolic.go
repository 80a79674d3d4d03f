package manifolds

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// Hyperbolic is the hyperbolic space H^n, for n at least 1, in the model of
// Lorentz: the points x of R^{n+1} with <x, x> = -1 and x_0 > 0, where
// <u, v> = -u_0 v_0 + u_1 v_1 + ... + u_n v_n. That is the inner product of its
// tangent vectors, those with <x, v> = 0; the curvature is -1.
//
// The first coordinate of points and tangent vectors follows from the others and is always computed from them. Far
// from the origin, <u, v> is a small difference of large numbers. The formulas here avoid it, so that the errors of
// inner products and distances are no larger than those of the coordinates imply.
//
// Sources: N. Boumal, An Introduction to Optimization on Smooth Manifolds,
// Cambridge 2023, section 7.6; J. G. Ratcliffe, Foundations of Hyperbolic
// Manifolds, Springer 2006, chapter 3.
type Hyperbolic int

// String returns a name such as "hyperbolic 2"; the number is the dimension.
func (m Hyperbolic) String() string { return fmt.Sprintf("hyperbolic %d", int(m)) }

// Size is n + 1.
func (m Hyperbolic) Size() int { return atLeast(0, "hyperbolic", int(m)) + 1 }

// Dim is n.
func (m Hyperbolic) Dim() int { return m.Size() - 1 }

// Project writes v + <x, v> x, the projection that is orthogonal with respect to
// <.,.>.
func (m Hyperbolic) Project(dst, x, v []float64) {
	mustFit(m.Size(), dst, x, v)
	c, x0 := floats.Dot(x[1:], v[1:])-x[0]*v[0], x[0]
	var first float64
	for i := 1; i <= int(m); i++ {
		xi := x[i]
		dst[i] = v[i] + c*xi
		first += xi * dst[i]
	}
	dst[0] = first / x0
}

// Inner is <u, v>, computed from the components along and across the direction of
// x from the origin: the product along it counts 1/x_0^2.
func (m Hyperbolic) Inner(x, u, v []float64) float64 {
	mustFit(m.Size(), x, u, v)
	radius := floats.Norm(x[1:], 2)
	if radius == 0 {
		return floats.Dot(u[1:], v[1:])
	}
	alongU, alongV := floats.Dot(x[1:], u[1:])/radius, floats.Dot(x[1:], v[1:])/radius
	sum := alongU / x[0] * (alongV / x[0])
	for i := 1; i <= int(m); i++ {
		e := x[i] / radius
		sum += (u[i] - alongU*e) * (v[i] - alongV*e)
	}
	return sum
}

// Gradient writes the projection of (-g_0, g_1, ..., g_n).
func (m Hyperbolic) Gradient(dst, x, g []float64) {
	mustFit(m.Size(), dst, x, g)
	c, x0 := floats.Dot(x, g), x[0]
	var first float64
	for i := 1; i <= int(m); i++ {
		xi := x[i]
		dst[i] = g[i] + c*xi
		first += xi * dst[i]
	}
	dst[0] = first / x0
}

// Retract is Exp.
func (m Hyperbolic) Retract(dst, x, v []float64) error { return m.Exp(dst, x, v) }

// RetractionOrder is 2: the retraction is the geodesic.
func (Hyperbolic) RetractionOrder() int { return 2 }

// Exp writes the end of the geodesic cosh(|v|) x + sinh(|v|) v/|v|. It fails where
// that is not finite.
func (m Hyperbolic) Exp(dst, x, v []float64) error {
	mustFit(m.Size(), dst, x, v)
	if err := checkFinite(v); err != nil {
		return failed(m, "exponential", fmt.Errorf("step: %w", err))
	}
	length := math.Sqrt(m.Inner(x, v, v))
	cosh, sinh := math.Cosh(length), 1.0
	if length > 0 {
		sinh = math.Sinh(length) / length
	}
	for i := 1; i <= int(m); i++ {
		dst[i] = cosh*x[i] + sinh*v[i]
	}
	if !m.complete(dst) {
		return failed(m, "exponential", fmt.Errorf("the end of a step of length %g is not finite", length))
	}
	return nil
}

// complete sets the first coordinate of the point x and reports whether all are
// finite.
func (m Hyperbolic) complete(x []float64) bool {
	x[0] = math.Hypot(1, floats.Norm(x[1:], 2))
	return x[0] <= math.MaxFloat64
}

// halfSinh is sinh(d/2) for the distance d of x and y, from the sides a, b and the
// angle c of the triangle that they form with the origin:
//
//	sinh^2(d/2) = sinh^2((a-b)/2) + sinh(a) sinh(b) sin^2(c/2).
//
// Only coordinates are subtracted: sinh(a-b) is computed from (x-y)'(x+y), and sinh(a) sinh(b) sin^2(c/2) from the
// part of x - y orthogonal to x + y.
func (m Hyperbolic) halfSinh(x, y []float64) float64 {
	a, b := floats.Norm(x[1:], 2), floats.Norm(y[1:], 2)
	if a == 0 && b == 0 {
		return 0
	}
	// Halves and quotients keep far points from overflowing.
	size := a/2 + b/2
	var apart, sum, product, turn float64
	for i := 1; i <= int(m); i++ {
		d, s := (x[i]/2-y[i]/2)/size, (x[i]/2+y[i]/2)/size
		apart, sum, product = apart+d*d, sum+s*s, product+d*s
		if a > 0 && b > 0 {
			e := x[i]/a - y[i]/b
			turn += e * e
		}
	}
	across := math.Sqrt(a) * math.Sqrt(b) * math.Sqrt(turn) / 2
	if apart < 0.25 {
		across = size * m.across(x, y, size, product/sum) / math.Sqrt(1-product*product/sum)
	}
	difference := math.Asinh(4 * size * product / (a/size*math.Hypot(1, b) + b/size*math.Hypot(1, a)))
	return math.Hypot(math.Sinh(difference/2), across)
}

// across is the length of d - c s with d = (x-y)/2 and s = (x+y)/2 in units of
// size.
func (m Hyperbolic) across(x, y []float64, size, c float64) float64 {
	var squares float64
	for i := 1; i <= int(m); i++ {
		e := (x[i]/2-y[i]/2)/size - c*((x[i]/2+y[i]/2)/size)
		squares += e * e
	}
	return math.Sqrt(squares)
}

// Distance is arcosh(-<x, y>). It fails where x or y is not finite.
func (m Hyperbolic) Distance(x, y []float64) (float64, error) {
	mustFit(m.Size(), x, y)
	if d := x[0] - y[0]; d-d != 0 {
		return 0, failed(m, "distance", errNoPoint)
	}
	d := 2 * math.Asinh(m.halfSinh(x, y))
	if d-d != 0 {
		return 0, failed(m, "distance", errNoPoint)
	}
	return d, nil
}

// Log writes d / sinh(d) (y - x cosh(d)) with the distance d. It fails where x or
// y is not finite, or so far away that the distance is not.
func (m Hyperbolic) Log(dst, x, y []float64) error {
	mustFit(m.Size(), dst, x, y)
	d, err := m.Distance(x, y)
	if err != nil {
		return err
	}
	half := math.Sinh(d / 2)
	factor := 1.0
	if d > 0 {
		factor = d / math.Sinh(d)
	}
	x0 := x[0]
	var first float64
	for i := 1; i <= int(m); i++ {
		xi := x[i]
		// cosh(d) - 1 = 2 sinh^2(d/2) keeps the digits of short steps.
		dst[i] = factor * (y[i] - xi - 2*half*half*xi)
		first += xi * dst[i]
	}
	dst[0] = first / x0
	return failed(m, "logarithm", checkFinite(dst))
}

// Transport writes the parallel transport along the geodesic from x to y, which
// keeps lengths and angles,
//
//	v + <y, v> / (1 - <x, y>) (x + y).
func (m Hyperbolic) Transport(dst, x, y, v []float64) {
	mustFit(m.Size(), dst, x, y, v)
	half := m.halfSinh(x, y)
	// <y, v> = <y - x, v>, and 1 - <x, y> = 2 + 2 sinh^2(d/2).
	c := -(y[0] - x[0]) * v[0]
	for i := 1; i <= int(m); i++ {
		c += (y[i] - x[i]) * v[i]
	}
	c /= 2 + 2*half*half
	y0 := y[0]
	var first float64
	for i := 1; i <= int(m); i++ {
		yi := y[i]
		dst[i] = v[i] + c*(x[i]+yi)
		first += yi * dst[i]
	}
	dst[0] = first / y0
}

// RiemannianHessian writes the projection of (-h_0, h_1, ..., h_n) + v (x'g).
func (m Hyperbolic) RiemannianHessian(dst, x, g, h, v []float64) {
	mustFit(m.Size(), dst, x, g, h, v)
	gx, hx, x0 := floats.Dot(x, g), floats.Dot(x, h), x[0]
	// v is tangent, so that only h has a normal part.
	var first float64
	for i := 1; i <= int(m); i++ {
		xi := x[i]
		dst[i] = h[i] + hx*xi + gx*v[i]
		first += xi * dst[i]
	}
	dst[0] = first / x0
}

// Rand draws a point whose coordinates after the first are standard normal.
func (m Hyperbolic) Rand(dst []float64, rng *rand.Rand) {
	mustFit(m.Size(), dst)
	Euclidean(m).Rand(dst[1:], rng)
	m.complete(dst)
}

// Violation is |x_0 - r| / r with r the first coordinate that belongs to the
// others, or +Inf where x is not finite.
func (m Hyperbolic) Violation(x []float64) float64 {
	mustFit(m.Size(), x)
	if nonFinite(x) >= 0 {
		return math.Inf(1)
	}
	r := math.Hypot(1, floats.Norm(x[1:], 2))
	return math.Abs(x[0]-r) / r
}

// Restore sets the first coordinate to what belongs to the others. It fails where
// x is not finite.
func (m Hyperbolic) Restore(x []float64) error {
	mustFit(m.Size(), x)
	if err := checkFinite(x); err != nil {
		return failed(m, "restoring", err)
	}
	if !m.complete(x) {
		return failed(m, "restoring", fmt.Errorf("the first coordinate overflows"))
	}
	return nil
}
