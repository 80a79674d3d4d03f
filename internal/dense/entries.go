package dense

import "math"

// Operations on the entries of vectors of one length. dst may be one of the arguments.

// Products writes x_k y_k to dst.
func Products(dst, x, y []float64) {
	dst, y = dst[:len(x)], y[:len(x)]
	for k, v := range x {
		dst[k] = v * y[k]
	}
}

// Magnitudes writes |x_k| to dst.
func Magnitudes(dst, x []float64) {
	dst = dst[:len(x)]
	for k, v := range x {
		dst[k] = math.Abs(v)
	}
}

// Roots writes the square roots of x_k to dst.
func Roots(dst, x []float64) {
	dst = dst[:len(x)]
	for k, v := range x {
		dst[k] = math.Sqrt(v)
	}
}

// WithSigns writes |factor x_k| with the sign of y_k to dst. The sign of a zero y_k counts too.
func WithSigns(dst []float64, factor float64, x, y []float64) {
	dst, y = dst[:len(x)], y[:len(x)]
	for k, v := range x {
		dst[k] = math.Copysign(factor*v, y[k])
	}
}
