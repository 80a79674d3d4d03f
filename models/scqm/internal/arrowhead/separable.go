package arrowhead

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// A separable loss has a Hessian diag(c) in the coordinates of the data, so that
//
//	A_pp' = sum over terms sign sign' sum_k W_k,row W_k,row' S_k,ff',   S_k = sum_i c_ik h_i h_i'.
//
// The S_k take nDF^2/2 operations, A then DP^2/2 whatever n is, where J'HJ row by
// row takes nP^2/2 and W'diag(c)W before that nD^3/2. HE is W'(diag(c) (WE)) and takes
// nD^2 d.

// momentsPerCoordinate is the length of the upper triangle of S_k.
func (a *Chart) momentsPerCoordinate() int { return a.Nf * (a.Nf + 1) / 2 }

// growDiagonal allocates the moments S, F(F+1)/2 x D.
func (a *Hessian) growDiagonal() {
	n := a.momentsPerCoordinate() * a.F.D
	for _, s := range a.sums {
		s.diagonal = dense.Grow(s.diagonal, n)
	}
	a.total.diagonal = dense.Grow(a.total.diagonal, n)
}

// diagonalTimesJacobian writes weight H E into he for H = W'diag(c)W.
func (a *Hessian) diagonalTimesJacobian(w *worker, c []float64, weight float64) {
	f := a.F
	d, D := f.Latent, f.D
	e := w.dh[d : (1+f.M)*d] // m x d
	w.column = dense.Grow(w.column, D)
	for j := range d {
		clear(w.column)
		for k := range f.M {
			dense.AddScaled(w.column, weight*e[k*d+j], a.Frame.Axis(k))
		}
		floats.Mul(w.column, c)
		for r := range D {
			w.he[r*d+j] = floats.Dot(a.Frame.Axis(r), w.column)
		}
	}
}

// addDiagonalMoments adds J'HJ summed over rows, from S, to the upper triangle of dst.
func (a *Hessian) addDiagonalMoments(dst, diagonal []float64) {
	D := a.F.D
	a.products = dense.Grow(a.products, a.Nf*D)
	products := a.products
	for p := range a.P {
		for _, t := range a.TermsOf(p) {
			for f := range a.Nf {
				floats.MulTo(products[f*D:(f+1)*D], a.Frame.Axis(t.Row), diagonal[a.moment(t.Feature, f)*D:][:D])
			}
			for q := p; q < a.P; q++ {
				for _, u := range a.TermsOf(q) {
					dst[p*a.P+q] += t.Sign * u.Sign * floats.Dot(products[u.Feature*D:(u.Feature+1)*D], a.Frame.Axis(u.Row))
				}
			}
		}
	}
}

// moment returns the index of entry (f, g) of S_k in its upper triangle.
func (a *Chart) moment(f, g int) int {
	if f > g {
		f, g = g, f
	}
	return f*a.Nf - f*(f-1)/2 + g - f
}
