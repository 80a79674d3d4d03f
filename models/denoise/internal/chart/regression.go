package chart

import "github.com/scqm/scqm/internal/dense"

// Regression is weighted least squares of rows of length D on p functions, with a ridge, in its own memory.
type Regression struct {
	P, D int
	g    []float64 // p x p: sums of w psi psi', lower triangle
	r    []float64 // p x D: sums of w psi y'
}

func NewRegression(p, D int) *Regression {
	return &Regression{P: p, D: D, g: make([]float64, p*p), r: make([]float64, p*D)}
}

func (s *Regression) Reset() {
	clear(s.g)
	clear(s.r)
}

// Add adds a row y with the values psi of the p functions and the weight w.
func (s *Regression) Add(psi, y []float64, w float64) {
	D, p := s.D, s.P
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

// Penalise adds a ridge to the functions from number first on.
func (s *Regression) Penalise(first int, ridge float64) {
	for i := first; i < s.P; i++ {
		s.g[i*s.P+i] += ridge
	}
}

// Solve writes the coefficients, p x D, into dst and destroys the sums. It returns false if the rows do not determine
// them.
func (s *Regression) Solve(dst []float64) bool {
	copy(dst, s.r)
	if !dense.FactorCholesky(s.g, s.P, 0, Singular) {
		return false
	}
	dense.SolveCholeskyRows(dst, s.g, s.P, s.D)
	return true
}

// Singular is the pivot, relative to the diagonal, below which a matrix counts
// as singular.
const Singular = 1e-13

// Quadratic writes 1, t and the products t_i t_j, i <= j, into psi.
func Quadratic(psi, t []float64) {
	psi[0] = 1
	copy(psi[1:], t)
	dense.Vech(psi[1+len(t):], t)
}

// Quadratics is the number of functions that quadratic writes.
func Quadratics(d int) int { return 1 + d + d*(d+1)/2 }
