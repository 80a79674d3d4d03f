package dense

// Bidiagonal is an upper bidiagonal matrix R.
type Bidiagonal struct {
	diagonal, ratio []float64 // R_jj, n, and R_j,j+1 / R_jj, n-1
	inverse, down   []float64 // 1 / R_jj, n, and R_j,j+1 / R_j+1,j+1, n-1
}

// Roots returns R with M = R'R.
func (f *TridiagonalCholesky) Roots() *Bidiagonal {
	n := len(f.pivots)
	r := &Bidiagonal{make([]float64, n), f.below, make([]float64, n), make([]float64, n-1)}
	Roots(r.diagonal, f.pivots)
	for j, v := range r.diagonal {
		r.inverse[j] = 1 / v
	}
	for j, v := range r.ratio {
		r.down[j] = v * r.diagonal[j] * r.inverse[j+1]
	}
	return r
}

// Multiply overwrites every row x of rows, of length n, by Rx.
func (r *Bidiagonal) Multiply(rows []float64) {
	n := len(r.diagonal)
	for ; len(rows) > 0; rows = rows[n:] {
		x := rows[:n]
		for j, v := range r.ratio {
			x[j] = r.diagonal[j] * (x[j] + float64(v*x[j+1]))
		}
		x[n-1] *= r.diagonal[n-1]
	}
}

// solvedRows is the number of rows that are solved at a time: each number waits for the one before it
// in its row, which leaves time for those of other rows.
const solvedRows = 5

// substitution solves by one of the two triangles, whose diagonal has been divided by, for solvedRows rows or for one.
type substitution struct {
	five func(r *Bidiagonal, a, b, c, d, e []float64)
	one  func(r *Bidiagonal, x []float64)
}

// backward is that by R, forward that by R'.
var (
	backward = substitution{(*Bidiagonal).upwards, (*Bidiagonal).upward}
	forward  = substitution{(*Bidiagonal).downwards, (*Bidiagonal).downward}
)

// Solve overwrites every row x by R^-1 x.
func (r *Bidiagonal) Solve(rows []float64) { r.substitute(rows, backward) }

// SolveTransposed overwrites every row x by R'^-1 x.
func (r *Bidiagonal) SolveTransposed(rows []float64) { r.substitute(rows, forward) }

func (r *Bidiagonal) substitute(rows []float64, by substitution) {
	n := len(r.diagonal)
	for ; len(rows) > 0; rows = rows[min(len(rows), solvedRows*n):] {
		some := rows[:min(len(rows), solvedRows*n)]
		scaleRows(some, r.inverse)
		if len(some) == solvedRows*n {
			by.five(r, some[:n], some[n:2*n], some[2*n:3*n], some[3*n:4*n], some[4*n:])
			continue
		}
		for ; len(some) > 0; some = some[n:] {
			by.one(r, some[:n])
		}
	}
}

// upwards takes the entries of R beside its diagonal from scaled rows.
func (r *Bidiagonal) upwards(a, b, c, d, e []float64) {
	n := len(r.diagonal)
	a, b, c, d, e = a[:n], b[:n], c[:n], d[:n], e[:n]
	p, q, s, t, u := a[n-1], b[n-1], c[n-1], d[n-1], e[n-1]
	for j := n - 2; j >= 0; j-- {
		v := r.ratio[j]
		p, q, s, t, u = a[j]-float64(v*p), b[j]-float64(v*q), c[j]-float64(v*s), d[j]-float64(v*t), e[j]-float64(v*u)
		a[j], b[j], c[j], d[j], e[j] = p, q, s, t, u
	}
}

// upward is upwards for one row.
func (r *Bidiagonal) upward(x []float64) {
	last := x[len(x)-1]
	for j := len(x) - 2; j >= 0; j-- {
		last = x[j] - float64(r.ratio[j]*last)
		x[j] = last
	}
}

// downwards takes the entries of R' beside its diagonal from scaled rows.
func (r *Bidiagonal) downwards(a, b, c, d, e []float64) {
	n := len(r.diagonal)
	a, b, c, d, e = a[:n], b[:n], c[:n], d[:n], e[:n]
	p, q, s, t, u := a[0], b[0], c[0], d[0], e[0]
	for j := 1; j < n; j++ {
		v := r.down[j-1]
		p, q, s, t, u = a[j]-float64(v*p), b[j]-float64(v*q), c[j]-float64(v*s), d[j]-float64(v*t), e[j]-float64(v*u)
		a[j], b[j], c[j], d[j], e[j] = p, q, s, t, u
	}
}

// downward is downwards for one row.
func (r *Bidiagonal) downward(x []float64) {
	last := x[0]
	for j, v := range x[1:] {
		last = v - float64(r.down[j]*last)
		x[j+1] = last
	}
}

// scaleRows multiplies every row of x by numbers, one for each entry.
func scaleRows(x, by []float64) {
	for n := len(by); len(x) > 0; x = x[n:] {
		Products(x[:n], x[:n], by)
	}
}
