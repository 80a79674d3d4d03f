package dense

import "math"

const (
	// factoredRows is the number of rows of a factor that are subtracted from later rows at a
	// time, finishedRows the number of those later rows that are completed at a time.
	factoredRows, finishedRows = 48, 12
	// trapezoidRows is the number of rows of R that a trapezoid holds.
	trapezoidRows = 2 * factoredRows
)

// trapezoid holds rows of a Cholesky factor R, M = R'R, from row from on, without the earlier columns: rows x stride,
// stride = n - from. Entries left of the diagonal are unused.
type trapezoid struct {
	from, rows, stride int
	r                  []float64
}

// factors reports whether a matrix M, n x n, has a Cholesky factor to working precision: n^3/3 operations and n^2/2 numbers.
func factors(m []float64, n int) bool {
	var parts []trapezoid
	weights := make([]float64, trapezoidRows*factoredRows)
	for from := 0; from < n; from += trapezoidRows {
		next := trapezoid{from, min(trapezoidRows, n-from), n - from, nil}
		next.r = make([]float64, next.rows*next.stride)
		for i := range next.rows {
			copy(next.row(i), m[(from+i)*n+from+i:(from+i+1)*n])
		}
		for first := 0; first < next.rows; first += factoredRows {
			count := min(factoredRows, next.rows-first)
			for _, above := range parts {
				next.subtract(above, 0, above.rows, first, count, weights)
			}
			next.subtract(next, 0, first, first, count, weights)
			for at := first; at < first+count; at += finishedRows {
				some := min(finishedRows, first+count-at)
				next.subtract(next, first, at, at, some, weights)
				if !next.factor(at, some) {
					return false
				}
			}
		}
		parts = append(parts, next)
	}
	return true
}

// row returns row i from its diagonal on.
func (p trapezoid) row(i int) []float64 { return p.r[i*p.stride+i : (i+1)*p.stride] }

// subtract subtracts the contribution of rows from..to of above from count rows, beginning with row first.
func (p trapezoid) subtract(above trapezoid, from, to, first, count int, weights []float64) {
	if from == to {
		return
	}
	at := p.from + first - above.from
	x := above.r[from*above.stride+at:]
	for k := range to - from {
		for i, v := range x[k*above.stride : k*above.stride+count] {
			weights[k*count+i] = -v
		}
	}
	sums := weighted{w: weights, row: count, column: 1, x: x, stride: above.stride, n: to - from}
	sums.to(p.r[first*p.stride+first:], p.stride, count, p.stride-first)
}

// factor converts rows of R'R, after subtract, to rows of R.
func (p trapezoid) factor(first, count int) bool {
	for i := first; i < first+count; i++ {
		row := p.row(i)
		for k := first; k < i; k++ {
			above := p.row(k)[i-k:]
			AddScaled(row, -above[0], above)
		}
		if !(row[0] > 0) {
			return false
		}
		Scale(row, 1/math.Sqrt(row[0]))
	}
	return true
}
