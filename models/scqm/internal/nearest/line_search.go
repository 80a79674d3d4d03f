package nearest

import "math"

const (
	// Armijo is the part of the decrease promised by the slope that a step must
	// bring.
	Armijo = 1e-4
	// Rounding is what the last digits of a value may do to it.
	Rounding = 0x1p-50
	// Tries bounds the lengths tried on the way to a minimum, InnerTries those of
	// one step among others of an outer iteration.
	Tries, InnerTries = 40, 4
)

// Accepts reports whether a step of length t lowers a value enough, given the
// slope at length 0 (Armijo's rule). A full step, the first one tried, may leave
// the value as it is to rounding: close to a minimum it still improves the
// argument.
func Accepts(value, next, t, slope float64, first bool) bool {
	return next <= value+Armijo*t*slope || first && next <= value+Rounding*math.Abs(value)
}

// Shorten returns the length to try after one that was not accepted: that of the
// minimum of the parabola through both values and the slope, but between a tenth
// and a half of the last.
//
// Source: J. E. Dennis, R. B. Schnabel, Numerical Methods for Unconstrained
// Optimization and Nonlinear Equations, algorithm A6.3.1.
func Shorten(t, value, next, slope float64) float64 {
	lowest := -slope * t * t / (2 * (next - value - slope*t))
	if !(lowest <= t/2) {
		lowest = t / 2
	}
	return math.Max(lowest, t/10)
}
