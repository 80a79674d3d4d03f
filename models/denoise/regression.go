package denoise

import "github.com/scqm/scqm/internal/dense"

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
	if !dense.FactorCholesky(s.g, s.p, 0, singular) {
		return false
	}
	dense.SolveCholeskyRows(dst, s.g, s.p, s.D)
	return true
}

// singular is the pivot, relative to the diagonal, below which a matrix counts
// as singular.
const singular = 1e-13

// quadratic writes 1, t and the products t_i t_j, i <= j, into psi.
func quadratic(psi, t []float64) {
	psi[0] = 1
	copy(psi[1:], t)
	dense.Vech(psi[1+len(t):], t)
}

// quadratics is the number of functions that quadratic writes.
func quadratics(d int) int { return 1 + d + d*(d+1)/2 }
