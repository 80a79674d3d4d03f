package dense

import "math"

// definiteRows is the number of rows of a factor that are found at a time.
const definiteRows = 48

// Definite reports whether a symmetric matrix, n x n, is positive definite to working precision, by
// its Cholesky factor: n^3/3 operations, and next to none for a tridiagonal matrix. The factor takes
// the place of what is above the diagonal, which is then restored from what is below it.
func Definite(m []float64, n int) bool {
	t := &Tridiagonal{make([]float64, n), make([]float64, n-1)}
	if t.read(m) {
		_, definite := t.Factor()
		return definite
	}
	diagonal := make([]float64, n)
	for i := range diagonal {
		diagonal[i] = m[i*n+i]
	}
	defer restoreUpper(m, diagonal)
	return factorUpper(m, n)
}

// IsTridiagonal reports whether nothing of a symmetric matrix, n x n, is further from its diagonal than by one.
func IsTridiagonal(m []float64, n int) bool {
	return (&Tridiagonal{make([]float64, n), make([]float64, n-1)}).read(m)
}

// factorUpper turns what is on and above the diagonal of a symmetric matrix into R with R'R the
// matrix, and reports false where there is none.
//
// What is below the diagonal stays.
func factorUpper(r []float64, n int) bool {
	weights, below := make([]float64, n*definiteRows), make([]float64, definiteRows*definiteRows)
	for from := 0; from < n; from += definiteRows {
		count := min(definiteRows, n-from)
		for k := range from { // less what the rows above take
			for i, v := range r[k*n+from : k*n+from+count] {
				weights[k*count+i] = -v
			}
		}
		for i := range count { // products have no corners
			copy(below[i*definiteRows:], r[(from+i)*n+from:(from+i)*n+from+i])
		}
		above := weighted{w: weights, row: count, column: 1, x: r[from:], stride: n, n: from}
		above.to(r[from*n+from:], n, count, n-from)
		done := factorRows(r[from*n:], n, from, count)
		for i := range count {
			copy(r[(from+i)*n+from:], below[i*definiteRows:i*definiteRows+i])
		}
		if !done {
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

// restoreUpper makes a matrix symmetric by its diagonal and what is below it.
func restoreUpper(m, diagonal []float64) {
	const block = 32
	n := len(diagonal)
	for top := 0; top < n; top += block {
		for left := top; left < n; left += block {
			for i := top; i < min(top+block, n); i++ {
				for j := max(left, i+1); j < min(left+block, n); j++ {
					m[i*n+j] = m[j*n+i]
				}
			}
		}
	}
	for i, v := range diagonal {
		m[i*n+i] = v
	}
}
