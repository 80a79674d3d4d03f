package dense

import "math"

// Operations on the entries of long vectors of one length, four at once where the processor can,
// with the bits of any other. dst may be one of the arguments.

// Products writes x_k y_k.
func Products(dst, x, y []float64) {
	dst, y = dst[:len(x)], y[:len(x)]
	if wide {
		productsWide(dst, x, y)
		return
	}
	products(dst, x, y)
}

// Magnitudes writes |x_k|.
func Magnitudes(dst, x []float64) {
	dst = dst[:len(x)]
	if wide {
		magnitudesWide(dst, x)
		return
	}
	magnitudes(dst, x)
}

// Roots writes the square roots of x_k.
func Roots(dst, x []float64) {
	dst = dst[:len(x)]
	if wide {
		rootsWide(dst, x)
		return
	}
	roots(dst, x)
}

// WithSigns writes |factor x_k| with the sign of y_k, that of a zero included.
func WithSigns(dst []float64, factor float64, x, y []float64) {
	dst, y = dst[:len(x)], y[:len(x)]
	if wide {
		withSignsWide(dst, factor, x, y)
		return
	}
	withSigns(dst, factor, x, y)
}

func products(dst, x, y []float64) {
	for k, v := range x {
		dst[k] = v * y[k]
	}
}

func magnitudes(dst, x []float64) {
	for k, v := range x {
		dst[k] = math.Abs(v)
	}
}

func roots(dst, x []float64) {
	for k, v := range x {
		dst[k] = math.Sqrt(v)
	}
}

func withSigns(dst []float64, factor float64, x, y []float64) {
	for k, v := range x {
		dst[k] = math.Copysign(factor*v, y[k])
	}
}
