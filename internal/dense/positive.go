package dense

// Positive is a symmetric positive definite matrix M, n x n, with its Cholesky factor, M = R'R.
type Positive struct {
	n int
	m []float64 // n x n
	r []float64 // n x n: R, on and above the diagonal
}

// NewPositive factors a matrix, which it keeps and does not change: n^3/3 operations and n^2 numbers. It
// reports false where M is not positive definite to working precision.
func NewPositive(m []float64, n int) (*Positive, bool) {
	p := &Positive{n, m, append([]float64(nil), m...)}
	return p, factorUpper(p.r, n)
}

// MultiplyRows writes Mx for every row x of rows, of length n, into dst, which is another slice: 2n
// operations for an entry.
func (p *Positive) MultiplyRows(dst, rows []float64) {
	clear(dst[:len(rows)])
	AddRowProduct(dst, rows, p.m, len(rows)/p.n, p.n, p.n)
}

// SolveRows overwrites every row x of rows by M^-1 x: as many operations as MultiplyRows takes. R is read
// once for all rows in each of the two directions.
func (p *Positive) SolveRows(rows []float64) {
	n, count := p.n, len(rows)/p.n
	for i := range n {
		row, inverse := p.r[i*n+i+1:(i+1)*n], 1/p.r[i*n+i]
		for k := range count {
			x := rows[k*n+i : (k+1)*n]
			x[0] *= inverse
			AddScaled(x[1:], -x[0], row)
		}
	}
	for i := n - 1; i >= 0; i-- {
		row, inverse := p.r[i*n+i+1:(i+1)*n], 1/p.r[i*n+i]
		for k := range count {
			x := rows[k*n+i : (k+1)*n]
			x[0] = (x[0] - InnerProduct(x[1:], row)) * inverse
		}
	}
}
