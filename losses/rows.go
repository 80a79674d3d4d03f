package losses

import (
	"fmt"
	"math"
	"sync"
)

const (
	// tiny is the distance from a kink within which a residual counts as zero
	// for weights and second derivatives. Its cube can still be divided by.
	tiny = 1e-100

	// Sums of squares within these bounds have neither underflowed nor overflowed.
	minSquares = 0x1p-900
	maxSquares = 0x1p1000
)

// countRows returns the number of rows of r. Slices of wrong length are
// programming errors and panic.
func countRows(name string, values, grad, r []float64, dim int) int {
	if dim < 1 || len(r)%dim != 0 {
		panic(fmt.Sprintf("losses: %s: %d residuals are not rows of %d", name, len(r), dim))
	}
	n := len(r) / dim
	if values != nil && len(values) != n {
		panic(fmt.Sprintf("losses: %s: %d values for %d rows", name, len(values), n))
	}
	if grad != nil && len(grad) != len(r) {
		panic(fmt.Sprintf("losses: %s: %d gradient entries for %d residuals", name, len(grad), len(r)))
	}
	return n
}

// norm returns the Euclidean norm of a row, whatever its scale.
func norm(row []float64) float64 {
	if u := squares(row); u >= minSquares && u <= maxSquares {
		return math.Sqrt(u)
	}
	largest := 0.0
	for _, v := range row {
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 || math.IsInf(largest, 0) || math.IsNaN(largest) {
		return largest
	}
	sum := 0.0
	for _, v := range row {
		sum += (v / largest) * (v / largest)
	}
	return largest * math.Sqrt(sum)
}

// squares returns the sum of the squares of a row. Four running sums keep the
// adder busy.
func squares(row []float64) float64 {
	var s0, s1, s2, s3 float64
	for len(row) >= 4 {
		s0 += row[0] * row[0]
		s1 += row[1] * row[1]
		s2 += row[2] * row[2]
		s3 += row[3] * row[3]
		row = row[4:]
	}
	for _, v := range row {
		s0 += v * v
	}
	return (s0 + s1) + (s2 + s3)
}

// sum returns the sum of a row.
func sum(row []float64) float64 {
	var s0, s1, s2, s3 float64
	for len(row) >= 4 {
		s0 += row[0]
		s1 += row[1]
		s2 += row[2]
		s3 += row[3]
		row = row[4:]
	}
	for _, v := range row {
		s0 += v
	}
	return (s0 + s1) + (s2 + s3)
}

// hypotenuse returns sqrt(a^2 + b^2).
func hypotenuse(a, b float64) float64 {
	if u := float64(a*a) + float64(b*b); u >= minSquares && u <= maxSquares {
		return math.Sqrt(u)
	}
	return math.Hypot(a, b)
}

// scratch lends buffers to evaluations.
var scratch = sync.Pool{New: func() any { return new([]float64) }}

// borrow returns a buffer of n numbers, not cleared, to be returned to scratch.
func borrow(n int) *[]float64 {
	b := scratch.Get().(*[]float64)
	if cap(*b) < n {
		*b = make([]float64, n)
	}
	*b = (*b)[:n]
	return b
}
