package dense

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// ImplicitEigen is the eigendecomposition V diag(w) V' of symmetric n x n matrices
// where V is wanted in products with vectors only. V stays the product of the
// Householder reflections that make the matrix tridiagonal and of the rotations of
// the QL iteration with implicit shifts. That takes 2n^3/3 multiplications, a fifth or
// less of what eigenvectors take, and a product some 4n^2.
//
// Source: G. H. Golub and C. F. Van Loan, Matrix Computations, 4th ed. (2013), 8.3.
type ImplicitEigen struct {
	// A is the matrix, whose upper triangle is read and overwritten.
	A []float64
	// Values are the eigenvalues, in no order.
	Values []float64

	n         int
	factors   []float64 // of the reflections: I - factor v v', v in the rows of A
	off, w    []float64
	rotations []rotation
}

// rotation turns columns i and i + 1 into c column_i - s column_i+1 and s column_i +
// c column_i+1.
type rotation struct {
	i    int
	c, s float64
}

// NewImplicitEigen prepares for matrices of order n.
func NewImplicitEigen(n int) *ImplicitEigen {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &ImplicitEigen{A: vec(n * n), Values: vec(n), n: n, factors: vec(n), off: vec(n), w: vec(n)}
}

// FactorizeOrIdentity decomposes A, or the unit matrix where that fails, as for a
// matrix that is not finite.
func (e *ImplicitEigen) FactorizeOrIdentity() {
	e.rotations = e.rotations[:0]
	e.reduce()
	if e.iterate() {
		return
	}
	e.rotations = e.rotations[:0]
	clear(e.factors)
	for i := range e.Values {
		e.Values[i] = 1
	}
}

// reduce makes A tridiagonal, with diagonal Values and the entries beside it in off.
func (e *ImplicitEigen) reduce() {
	n := e.n
	for k := range n {
		row := e.A[k*n+k : (k+1)*n]
		e.Values[k], e.factors[k], e.off[k] = row[0], 0, 0
		v := row[1:]
		if len(v) == 0 {
			break
		}
		size := floats.Norm(v, 2)
		if e.off[k] = v[0]; len(v) == 1 || size == math.Abs(v[0]) {
			continue
		}
		e.off[k] = -math.Copysign(size, v[0])
		v[0] -= e.off[k]
		e.factors[k] = -1 / (e.off[k] * v[0]) // 2 / v'v
		e.reflect(k, v)
	}
}

// reflect replaces the part B of A below and right of entry (k, k) by HBH with
// H = I - factor v v', that is by B - v w' - w v' with w = p - factor/2 (v'p) v and
// p = factor B v.
func (e *ImplicitEigen) reflect(k int, v []float64) {
	n, w := e.n, e.w[:len(v)]
	clear(w)
	for i, u := range v {
		row := e.A[(k+1+i)*n+k+1+i : (k+2+i)*n]
		w[i] += floats.Dot(row, v[i:])
		floats.AddScaled(w[i+1:], u, row[1:])
	}
	floats.Scale(e.factors[k], w)
	floats.AddScaled(w, -e.factors[k]/2*floats.Dot(v, w), v)
	for i, u := range v {
		row := e.A[(k+1+i)*n+k+1+i : (k+2+i)*n]
		floats.AddScaled(row, -u, w[i:])
		floats.AddScaled(row, -w[i], v[i:])
	}
}

// maxSweeps bounds the QL iterations for one eigenvalue.
const maxSweeps = 60

// iterate makes the tridiagonal matrix diagonal. It reports false if that fails.
func (e *ImplicitEigen) iterate() bool {
	size := floats.Norm(e.Values, 2) + floats.Norm(e.off, 2)
	if !Finite(size) {
		return false
	}
	for first := range e.n {
		for sweep := 0; ; sweep++ {
			last := e.blockEnd(first, 0x1p-60*size)
			if last == first {
				break
			}
			if sweep == maxSweeps {
				return false
			}
			e.sweep(first, last)
		}
	}
	return true
}

// blockEnd returns the last row of the block that begins at first: the entry beside
// the diagonal there is next to nothing.
func (e *ImplicitEigen) blockEnd(first int, least float64) int {
	last := first
	for ; last < e.n-1; last++ {
		if math.Abs(e.off[last]) <= 0x1p-53*(math.Abs(e.Values[last])+math.Abs(e.Values[last+1]))+least {
			break
		}
	}
	return last
}

// sweep is a QL step on rows first to last.
func (e *ImplicitEigen) sweep(first, last int) {
	w, off := e.Values, e.off
	g := (w[first+1] - w[first]) / (2 * off[first])
	g = w[last] - w[first] + off[first]/(g+math.Copysign(math.Hypot(g, 1), g))
	s, c, p := 1.0, 1.0, 0.0
	for i := last - 1; i >= first; i-- {
		f, b := s*off[i], c*off[i]
		r := math.Hypot(f, g)
		if off[i+1] = r; r == 0 {
			w[i+1] -= p
			off[last] = 0
			return
		}
		s, c = f/r, g/r
		g = w[i+1] - p
		r = (w[i]-g)*s + 2*c*b
		p = s * r
		w[i+1] = g + p
		g = c*r - b
		e.rotations = append(e.rotations, rotation{i, c, s})
	}
	w[first] -= p
	off[first], off[last] = g, 0
}

// TimesTransposed writes V'x over x.
func (e *ImplicitEigen) TimesTransposed(x []float64) {
	for k := range e.factors {
		e.reflectVector(x, k)
	}
	for _, r := range e.rotations {
		a, b := x[r.i], x[r.i+1]
		x[r.i], x[r.i+1] = r.c*a-r.s*b, r.s*a+r.c*b
	}
}

// Times writes Vx over x.
func (e *ImplicitEigen) Times(x []float64) {
	for k := len(e.rotations) - 1; k >= 0; k-- {
		r := e.rotations[k]
		a, b := x[r.i], x[r.i+1]
		x[r.i], x[r.i+1] = r.c*a+r.s*b, r.c*b-r.s*a
	}
	for k := len(e.factors) - 1; k >= 0; k-- {
		e.reflectVector(x, k)
	}
}

func (e *ImplicitEigen) reflectVector(x []float64, k int) {
	if e.factors[k] != 0 {
		v := e.A[k*e.n+k+1 : (k+1)*e.n]
		floats.AddScaled(x[k+1:], -e.factors[k]*floats.Dot(v, x[k+1:]), v)
	}
}
