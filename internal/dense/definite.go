package dense

import "math"

// definiteRows is the number of rows of a factor that are found at a time.
const definiteRows = 48

// Definite reports whether a symmetric matrix, n x n, is positive definite to working precision, by
// its Cholesky factor: n^3/3 operations, and next to none for a tridiagonal matrix.
func Definite(m []float64, n int) bool {
	t := &Tridiagonal{make([]float64, n), make([]float64, n-1)}
	if t.read(m) {
		_, definite := t.Factor()
		return definite
	}
	r, weights := append([]float64(nil), m[:n*n]...), make([]float64, n*definiteRows)
	for from := 0; from < n; from += definiteRows {
		count := min(definiteRows, n-from)
		for k := range from { // less what the rows above take
			for i, v := range r[k*n+from : k*n+from+count] {
				weights[k*count+i] = -v
			}
		}
		above := weighted{w: weights, row: count, column: 1, x: r[from:], stride: n, n: from}
		above.to(r[from*n+from:], n, count, n-from)
		if !factorRows(r[from*n:], n, from, count) {
			return false
		}
	}
	return true
}

// factorRows turns some rows of R'R, of length n, into those of R; the entries before the first are
// not looked at.
func factorRows(r []float64, n, from, count int) bool {
	for i := range count {
		row := r[i*n : (i+1)*n]
		for k := range i {
			AddScaled(row[from+i:], -r[k*n+from+i], r[k*n+from+i:(k+1)*n])
		}
		pivot := row[from+i]
		if !(pivot > 0) {
			return false
		}
		Scale(row[from+i:], 1/math.Sqrt(pivot))
	}
	return true
}
