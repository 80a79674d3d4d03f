package dense

import "math"

const (
	// factoredRows is the number of rows of a factor from which others are subtracted at a time, and finishedRows that of
	// those which are then found.
	factoredRows, finishedRows = 48, 12
	// trapezoidRows is the number of rows of a trapezoid.
	trapezoidRows = 2 * factoredRows
)

// Positive is a symmetric positive definite matrix M, n x n, with its Cholesky factor, M = R'R.
type Positive struct {
	n     int
	m     []float64   // n x n
	parts []trapezoid // of R
}

// trapezoid holds rows of R, from one on, without the columns before: rows x stride, stride = n - from. What is left of the
// diagonal is of no meaning.
type trapezoid struct {
	from, rows, stride int
	r                  []float64
}

// NewPositive factors a matrix, which it keeps and does not change: n^3/3 operations and n^2/2 numbers. It
// reports false where M is not positive definite to working precision.
func NewPositive(m []float64, n int) (*Positive, bool) {
	p := &Positive{n: n, m: m}
	weights := make([]float64, trapezoidRows*factoredRows)
	for from := 0; from < n; from += trapezoidRows {
		next := trapezoid{from, min(trapezoidRows, n-from), n - from, nil}
		next.r = make([]float64, next.rows*next.stride)
		for i := range next.rows {
			copy(next.row(i), m[(from+i)*n+from+i:(from+i+1)*n])
		}
		for first := 0; first < next.rows; first += factoredRows {
			count := min(factoredRows, next.rows-first)
			for _, above := range p.parts {
				next.subtract(above, 0, above.rows, first, count, weights)
			}
			next.subtract(next, 0, first, first, count, weights)
			for at := first; at < first+count; at += finishedRows {
				some := min(finishedRows, first+count-at)
				next.subtract(next, first, at, at, some, weights)
				if !next.factor(at, some) {
					return nil, false
				}
			}
		}
		p.parts = append(p.parts, next)
	}
	return p, true
}

// row is row i from its diagonal on.
func (p trapezoid) row(i int) []float64 { return p.r[i*p.stride+i : (i+1)*p.stride] }

// subtract takes from some rows what the rows of R from one to another, above them, take.
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

// factor turns some rows of R'R, less what those above take, into those of R.
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

// MultiplyRows writes Mx for every row x of rows, of length n, into dst, which is another slice: 2n
// operations for an entry.
func (p *Positive) MultiplyRows(dst, rows []float64) {
	n, count := p.n, len(rows)/p.n
	clear(dst[:len(rows)])
	AddRowProduct(dst, rows, p.m, count, n, n)
}

// SolveRows overwrites every row x of rows by M^-1 x: as many operations as MultiplyRows takes. R is read
// once for all rows in each of the two directions.
func (p *Positive) SolveRows(rows []float64) {
	n, count := p.n, len(rows)/p.n
	weights := make([]float64, factoredRows*count)
	for _, part := range p.parts {
		for first := 0; first < part.rows; first += factoredRows {
			part.solveTransposed(rows, n, first, min(factoredRows, part.rows-first), weights)
		}
	}
	for at := len(p.parts) - 1; at >= 0; at-- {
		part := p.parts[at]
		for i := part.rows - 1; i >= 0; i-- {
			row := part.row(i)
			inverse := 1 / row[0]
			for k := range count {
				x := rows[k*n+part.from+i : (k+1)*n]
				x[0] = (x[0] - InnerProduct(x[1:], row[1:])) * inverse
			}
		}
	}
}

// solveTransposed finds some entries of every solution x of R'x = b, and takes their part from the entries of b after them.
func (p trapezoid) solveTransposed(rows []float64, n, first, size int, weights []float64) {
	count, at := len(rows)/n, p.from+first
	for i := range size {
		row := p.row(first + i)
		inverse := 1 / row[0]
		for k := range count {
			x := rows[k*n+at+i : k*n+at+size]
			x[0] *= inverse
			AddScaled(x[1:], -x[0], row[1:size-i])
			weights[i*count+k] = -x[0]
		}
	}
	if left := n - at - size; left > 0 {
		sums := weighted{w: weights, row: count, column: 1, x: p.r[first*p.stride+first+size:], stride: p.stride, n: size}
		sums.to(rows[at+size:], n, count, left)
	}
}
