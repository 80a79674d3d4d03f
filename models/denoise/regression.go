package denoise

import "math"

// regression is weighted least squares of rows of length D on p functions, with
// a ridge, in its own memory.
type regression struct {
	p, D int
	g    []float64 // p x p: sums of w psi psi', lower triangle
	r    []float64 // p x D: sums of w psi y'
}

func newRegression(p, D int) *regression {
	return &regression{p: p, D: D, g: make([]float64, p*p), r: make([]float64, p*D)}
}

func (s *regression) reset() {
	clear(s.g)
	clear(s.r)
}

// add takes in a row y with the values psi of the functions.
func (s *regression) add(psi, y []float64, w float64) {
	D, p := s.D, s.p
	for i, v := range psi {
		f := w * v
		g := s.g[i*p : i*p+i+1]
		for j := range g {
			g[j] += f * psi[j]
		}
		r := s.r[i*D : (i+1)*D]
		for j := range r {
			r[j] += f * y[j]
		}
	}
}

// penalise adds a ridge to the functions from number first on.
func (s *regression) penalise(first int, ridge float64) {
	for i := first; i < s.p; i++ {
		s.g[i*s.p+i] += ridge
	}
}

// solve writes the coefficients, p x D, into dst and destroys the sums. It is
// false if the rows do not determine them.
func (s *regression) solve(dst []float64) bool {
	copy(dst, s.r)
	if !cholesky(s.g, s.p) {
		return false
	}
	substitute(dst, s.g, s.p, s.D)
	return true
}

// singular is the pivot, relative to the diagonal, below which a matrix counts
// as singular.
const singular = 1e-13

// cholesky factorises the lower triangle of the n x n matrix a in place.
func cholesky(a []float64, n int) bool {
	for j := range n {
		row := a[j*n : j*n+j+1]
		before := row[j]
		pivot := before - dot(row[:j], row[:j])
		if !(pivot > singular*before) {
			return false
		}
		pivot = math.Sqrt(pivot)
		row[j] = pivot
		for i := j + 1; i < n; i++ {
			other := a[i*n : i*n+j+1]
			other[j] = (other[j] - dot(other[:j], row[:j])) / pivot
		}
	}
	return true
}

// substitute solves l l' x = b for the n x m matrix b, in place.
func substitute(b, l []float64, n, m int) {
	for i := range n {
		x := b[i*m : (i+1)*m]
		for k := range i {
			f := l[i*n+k]
			for j, v := range b[k*m : (k+1)*m] {
				x[j] -= f * v
			}
		}
		scale(x, 1/l[i*n+i])
	}
	for i := n - 1; i >= 0; i-- {
		x := b[i*m : (i+1)*m]
		for k := i + 1; k < n; k++ {
			f := l[k*n+i]
			for j, v := range b[k*m : (k+1)*m] {
				x[j] -= f * v
			}
		}
		scale(x, 1/l[i*n+i])
	}
}

// quadratic writes 1, t and the products t_i t_j, i <= j, into psi.
func quadratic(psi, t []float64) {
	d := len(t)
	psi[0] = 1
	copy(psi[1:], t)
	at := 1 + d
	for i, v := range t {
		for _, u := range t[i:] {
			psi[at] = v * u
			at++
		}
	}
}

// quadratics is the number of functions that quadratic writes.
func quadratics(d int) int { return 1 + d + d*(d+1)/2 }
