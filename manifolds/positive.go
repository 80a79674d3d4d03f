package manifolds

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// Positive is the set of vectors of n positive numbers, for n at least 0, with the metric
// sum_i u_i v_i / x_i^2, in which only ratios count: the product of n times SPD(1), and
// R^n by logarithms.
type Positive int

// String returns a name such as "positive 5".
func (m Positive) String() string { return fmt.Sprintf("positive %d", int(m)) }

// Size is n.
func (m Positive) Size() int { return atLeast(0, "positive", int(m)) }

// Dim is n.
func (m Positive) Dim() int { return m.Size() }

// Project copies v: every vector is tangent.
func (m Positive) Project(dst, x, v []float64) { Euclidean(m).Project(dst, x, v) }

// Inner is the sum of u v / x^2.
func (m Positive) Inner(x, u, v []float64) float64 {
	mustFit(int(m), x, u, v)
	var sum float64
	for i, t := range x {
		sum += u[i] / t * (v[i] / t)
	}
	return sum
}

// Gradient writes x^2 g.
func (m Positive) Gradient(dst, x, g []float64) {
	mustFit(int(m), dst, x, g)
	for i, t := range x {
		dst[i] = t * t * g[i]
	}
}

// RiemannianHessian writes x^2 h + x g v.
func (m Positive) RiemannianHessian(dst, x, g, h, v []float64) {
	mustFit(int(m), dst, x, g, h, v)
	for i, t := range x {
		dst[i] = t * (t*h[i] + g[i]*v[i])
	}
}

// Retract writes x + v + v^2 / (2x), as [SPD.Retract] does. It fails where that is not finite.
func (m Positive) Retract(dst, x, v []float64) error {
	return m.each("retraction", dst, x, v, func(x, v float64) float64 { return x + v + v/x*v/2 })
}

// RetractionOrder is 2.
func (Positive) RetractionOrder() int { return 2 }

// Exp writes x exp(v/x). It fails where that is not finite or zero.
func (m Positive) Exp(dst, x, v []float64) error {
	return m.each("exponential", dst, x, v, func(x, v float64) float64 { return x * math.Exp(v/x) })
}

// each applies a function to the entries, whose results have to be positive numbers.
func (m Positive) each(operation string, dst, x, v []float64, of func(x, v float64) float64) error {
	mustFit(int(m), dst, x, v)
	for i, t := range x {
		dst[i] = of(t, v[i])
	}
	if !positive(dst) {
		return failed(m, operation, errNotPositive)
	}
	return nil
}

// Log writes x log(y/x). It fails where x or y is no point.
func (m Positive) Log(dst, x, y []float64) error {
	mustFit(int(m), dst, x, y)
	if !positive(x) || !positive(y) {
		return failed(m, "logarithm", errNoPoint)
	}
	for i, t := range x {
		dst[i] = t * logRatio(t, y[i])
	}
	return nil
}

// logRatio is log(y/x), which keeps its digits where y is close to x.
func logRatio(x, y float64) float64 {
	if d := (y - x) / x; math.Abs(d) < 0.5 {
		return math.Log1p(d)
	}
	return math.Log(y) - math.Log(x)
}

// Distance is the length of log(y/x). It fails where x or y is no point.
func (m Positive) Distance(x, y []float64) (float64, error) {
	mustFit(int(m), x, y)
	if !positive(x) || !positive(y) {
		return 0, failed(m, "distance", errNoPoint)
	}
	var far float64
	for i, t := range x {
		far = math.Hypot(far, logRatio(t, y[i]))
	}
	return far, nil
}

// Transport writes v y/x, the parallel transport, which keeps lengths and angles.
func (m Positive) Transport(dst, x, y, v []float64) {
	mustFit(int(m), dst, x, y, v)
	for i, t := range x {
		dst[i] = v[i] / t * y[i]
	}
}

// Rand draws independent numbers exp(z/2), z standard normal.
func (m Positive) Rand(dst []float64, rng *rand.Rand) {
	mustFit(int(m), dst)
	for i := range dst {
		dst[i] = math.Exp(rng.NormFloat64() / 2)
	}
}

// Violation is 0, or +Inf where an entry is not positive and finite.
func (m Positive) Violation(x []float64) float64 {
	mustFit(int(m), x)
	if !positive(x) {
		return math.Inf(1)
	}
	return 0
}

// Restore fails where x is no point: there is no nearest one, as the set is open.
func (m Positive) Restore(x []float64) error {
	if m.Violation(x) > 0 {
		return failed(m, "restoring x", errNotPositive)
	}
	return nil
}

// positive reports whether all entries are positive and finite.
func positive(x []float64) bool {
	return len(x) == 0 || floats.Min(x) > 0 && nonFinite(x) < 0
}

// errNotPositive says that a vector has other entries.
var errNotPositive = errors.New("an entry is not positive and finite")
