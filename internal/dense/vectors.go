package dense

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Dot returns the inner product of short vectors.
func Dot(x, y []float64) float64 {
	var sum float64
	y = y[:len(x)]
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}

// squaresFit and its inverse bound the sums of squares that are accurate despite underflow and overflow.
const squaresFit = 0x1p-900

// Norm returns the Euclidean norm. If the sum of squares is well within the range of
// float64, it returns its root, which takes a tenth of the time of scaling every entry.
func Norm(x []float64) float64 {
	if sum := floats.Dot(x, x); sum > squaresFit && sum < 1/squaresFit {
		return math.Sqrt(sum)
	}
	return floats.Norm(x, 2)
}

func Scale(x []float64, by float64) {
	if by != 1 {
		floats.Scale(by, x)
	}
}

// MaxAbsIdx returns the index of the entry of largest magnitude.
func MaxAbsIdx(x []float64) int {
	best := 0
	for i, v := range x {
		if math.Abs(v) > math.Abs(x[best]) {
			best = i
		}
	}
	return best
}

// Transpose writes the transpose of the rows x cols matrix a into dst.
func Transpose(dst, a []float64, rows, cols int) {
	for i := range rows {
		for j := range cols {
			dst[j*rows+i] = a[i*cols+j]
		}
	}
}

func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Grow returns a slice of length n, which reuses buf if its capacity suffices.
func Grow[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}

// Negligible is the size, relative to a distance, below which a difference counts as rounding error.
const Negligible = 1e-8
