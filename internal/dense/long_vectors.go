package dense

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

//go:generate sh -c "go run ./assembly vectors_arm64 > long_vectors_arm64.s"

// InnerProduct returns the inner product of long vectors of equal length, in 16 partial sums. It uses
// vector instructions if available; the result has the same bits on all processors.
func InnerProduct(x, y []float64) float64 {
	y = y[:len(x)]
	if wide {
		return innerProductWide(x, y)
	}
	return innerProduct(x, y)
}

// fewEntries is the length up to which a Go loop is faster than a call of a kernel.
const fewEntries = 8

// AddScaled adds factor * x to dst, which has the length of x.
func AddScaled(dst []float64, factor float64, x []float64) {
	dst = dst[:len(x)]
	switch {
	case len(x) <= fewEntries:
		addScaled(dst, factor, x)
	case wide:
		addScaledWide(dst, factor, x)
	default:
		addScaled(dst, factor, x)
	}
}

// innerProduct is the plain Go version of innerProductWide. Conversions prevent products from being fused with their
// sums.
func innerProduct(x, y []float64) float64 {
	var s [16]float64
	for len(x) >= 16 {
		u, v := x[:16], y[:16]
		for k := range s {
			s[k] += float64(u[k] * v[k])
		}
		x, y = x[16:], y[16:]
	}
	for len(x) >= 4 {
		for k := range 4 {
			s[k] += float64(x[k] * y[k])
		}
		x, y = x[4:], y[4:]
	}
	for k := range 4 {
		s[k] = (s[k] + s[k+4]) + (s[k+8] + s[k+12])
	}
	sum := (s[0] + s[2]) + (s[1] + s[3])
	for k, v := range x {
		sum += float64(v * y[k])
	}
	return sum
}

func addScaled(dst []float64, factor float64, x []float64) {
	dst = dst[:len(x)]
	for k, v := range x {
		dst[k] += float64(factor * v)
	}
}

// Farthest returns the largest |x_k - y_k| of vectors of equal length. It ignores NaN, and returns 0 for empty vectors.
func Farthest(x, y []float64) (most float64) {
	y = y[:len(x)]
	for k, v := range x {
		if far := math.Abs(v - y[k]); far > most {
			most = far
		}
	}
	return most
}

// FiniteUntil returns an index before which all numbers are finite: the length if all are
// finite, otherwise at most 511 less than the index of the first other number.
func FiniteUntil(x []float64) int {
	var zeros [512]float64
	for from := 0; from < len(x); from += len(zeros) {
		some := x[from:min(from+len(zeros), len(x))]
		if InnerProduct(some, zeros[:len(some)]) != 0 { // 0 times what is not finite is no number
			return from
		}
	}
	return len(x)
}

// Distance returns the Euclidean distance of long vectors of equal length.
func Distance(x, y []float64) float64 {
	var square [1]float64
	SquaredDistances(square[:], x, y[:len(x)], 1, len(x))
	if square[0] > squaresFit && square[0] < 1/squaresFit {
		return math.Sqrt(square[0])
	}
	return floats.Distance(x, y[:len(x)], 2)
}

// WithFiniteRows calls work with r, of rows of dim numbers, after replacing rows with NaN or Inf by zeros. Then
// it sets the results of those rows to NaN. Each result is nil or has the same number of entries for every row.
func WithFiniteRows(r []float64, dim int, work func(r []float64) error, results ...[]float64) error {
	if FiniteUntil(r) == len(r) {
		return work(r)
	}
	var bad []int
	r = slices.Clone(r)
	for i := range len(r) / dim {
		if row := r[i*dim : (i+1)*dim]; FiniteUntil(row) < dim {
			clear(row)
			bad = append(bad, i)
		}
	}
	err := work(r)
	for _, to := range results {
		per := len(to) * dim / len(r)
		for _, i := range bad {
			for k := range per {
				to[i*per+k] = math.NaN()
			}
		}
	}
	return err
}
