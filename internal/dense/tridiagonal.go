package dense

// Tridiagonal is a symmetric tridiagonal matrix.
type Tridiagonal struct {
	Diagonal []float64 // n
	Off      []float64 // n-1: the entries beside it
}

// MultiplyRows writes the product of the matrix with every row of x into dst, which is another slice:
// five operations for an entry.
func (t *Tridiagonal) MultiplyRows(dst, x []float64) {
	n := len(t.Diagonal)
	for ; len(x) > 0; x, dst = x[n:], dst[n:] {
		row, to, off := x[:n], dst[:n], t.Off[:n-1]
		for j, v := range t.Diagonal {
			to[j] = v * row[j]
		}
		for j, v := range off {
			to[j] += float64(v * row[j+1])
			to[j+1] += float64(v * row[j])
		}
	}
}

// Matrix returns all entries, n x n.
func (t *Tridiagonal) Matrix() []float64 {
	n := len(t.Diagonal)
	m := make([]float64, n*n)
	for j, v := range t.Diagonal {
		m[j*n+j] = v
	}
	for j, v := range t.Off {
		m[j*n+j+1], m[(j+1)*n+j] = v, v
	}
	return m
}

// TridiagonalCholesky are the factors LDL' of a positive definite tridiagonal matrix.
type TridiagonalCholesky struct{ pivots, below []float64 }

// Factor reports false where the matrix is not positive definite to working precision.
func (t *Tridiagonal) Factor() (*TridiagonalCholesky, bool) {
	f := &TridiagonalCholesky{make([]float64, len(t.Diagonal)), make([]float64, len(t.Off))}
	for j, pivot := range t.Diagonal {
		if j > 0 {
			f.below[j-1] = t.Off[j-1] / f.pivots[j-1]
			pivot -= float64(f.below[j-1] * t.Off[j-1])
		}
		if !(pivot > 0) {
			return nil, false
		}
		f.pivots[j] = pivot
	}
	return f, true
}

// Solve overwrites b, n x k, by the solution of the systems of its columns.
func (f *TridiagonalCholesky) Solve(b []float64, k int) {
	n := len(f.pivots)
	for j := 1; j < n; j++ {
		for i, v := range b[(j-1)*k : j*k] {
			b[j*k+i] -= float64(f.below[j-1] * v)
		}
	}
	for j := n - 1; j >= 0; j-- {
		row := b[j*k : (j+1)*k]
		for i := range row {
			row[i] /= f.pivots[j]
			if j < n-1 {
				row[i] -= float64(f.below[j] * b[(j+1)*k+i])
			}
		}
	}
}
