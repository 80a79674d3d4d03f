package outside

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Simplex is the set of n positive numbers with the sum 1, with the metric of Fisher,
// sum u_i v_i / x_i.
type Simplex int

// Size is n.
func (n Simplex) Size() int { return int(n) }

// Dim is n-1.
func (n Simplex) Dim() int { return int(n) - 1 }

// Project subtracts the mean.
func (n Simplex) Project(dst, _, v []float64) {
	mean := sum(v) / float64(n)
	for i, a := range v {
		dst[i] = a - mean
	}
}

// Retract multiplies x_i by exp(v_i/x_i), and all by what makes the sum 1. It fails where
// a coordinate overflows or vanishes.
func (n Simplex) Retract(dst, x, v []float64) error {
	for i, a := range x {
		dst[i] = a * math.Exp(v[i]/a)
	}
	return n.Restore(dst)
}

// Inner is sum u_i v_i / x_i.
func (Simplex) Inner(x, u, v []float64) float64 {
	var s float64
	for i, a := range x {
		s += u[i] * v[i] / a
	}
	return s
}

// Gradient is x_i (g_i - sum_j x_j g_j).
func (Simplex) Gradient(dst, x, g []float64) {
	var mean float64
	for i, a := range x {
		mean += a * g[i]
	}
	for i, a := range x {
		dst[i] = a * (g[i] - mean)
	}
}

// Rand draws from the uniform distribution.
func (n Simplex) Rand(dst []float64, rng *rand.Rand) {
	for i := range dst {
		dst[i] = rng.ExpFloat64()
	}
	total := sum(dst)
	for i := range dst {
		dst[i] /= total
	}
}

// Violation is how far the sum is from 1, Inf where a coordinate is not positive.
func (Simplex) Violation(x []float64) float64 {
	for _, a := range x {
		if !(a > 0) {
			return math.Inf(1)
		}
	}
	return math.Abs(sum(x) - 1)
}

// Restore divides by the sum.
func (n Simplex) Restore(x []float64) error {
	total := sum(x)
	for i := range x {
		x[i] /= total
	}
	if off := n.Violation(x); !(off < 1e-12) {
		return fmt.Errorf("outside: simplex: x cannot be restored")
	}
	return nil
}

func sum(x []float64) float64 {
	var s float64
	for _, a := range x {
		s += a
	}
	return s
}
