package framework

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

const (
	// minPrediction is the relative decrease of the cost below which what Newton's
	// method predicts for a direction is made of rounding errors.
	minPrediction = 1e-12
	// flatness is the eigenvalue of the Schur complement, scaled to a diagonal of A of 1,
	// relative to the largest, up to which [ReducedHessian.Whiten] leaves a direction out.
	flatness = 1e-10
)

// ReducedHessian is the second derivative of a cost as a function of the outer
// coordinates v, the inner rows following: the Schur complement S of an arrowhead
// ([ArrowheadHessian]), by its eigenvectors.
type ReducedHessian struct {
	cost     float64
	scale    []float64 // of v, to a diagonal of A of 1
	gradient []float64 // of the cost with respect to v, the inner rows following, scaled
	s        *mat.SymDense
	values   []float64 // of s, from decompose on
	vectors  mat.Dense
}

// ReduceHessian returns the reduced Hessian of p at x. It reports false where there are
// no second derivatives at x, or too large ones ([ArrowheadShape.Probeable]).
func ReduceHessian(p Problem, x Point) (h *ReducedHessian, ok bool, err error) {
	a, ok := p.(ArrowheadHessian)
	if !ok {
		return nil, false, nil
	}
	shape, ok := a.ArrowheadShape()
	if !ok || !shape.Probeable() {
		return nil, false, nil
	}
	s := newProber(shape, p.Blocks())
	cost, _, err := a.AssembleHessian(s.Arrowhead, x)
	if err != nil || math.IsNaN(cost) || math.IsInf(cost, 0) || !s.Finite() || !s.eliminate() {
		return nil, false, err
	}
	return &ReducedHessian{cost: math.Abs(cost), scale: s.scale, gradient: s.reducedGradient(), s: s.s}, true, nil
}

// Decompose computes the eigenvectors of S, which all other methods but
// [ReducedHessian.Promises] need and which take thirty times as long as a factorization. It
// reports false where they are not found.
func (h *ReducedHessian) Decompose() bool {
	var eigen mat.EigenSym
	if !eigen.Factorize(h.s, true) {
		return false
	}
	h.values = eigen.Values(nil)
	eigen.VectorsTo(&h.vectors)
	return true
}

// Promises reports whether an undamped Newton step would lower the cost by more than gain,
// were it quadratic, without eigenvectors: true is certain but for directions of no curvature,
// and false may be wrong where S has negative curvature.
func (h *ReducedHessian) Promises(gain float64) bool {
	n := len(h.scale)
	var largest float64 // bounds the eigenvalues by the sums of the rows
	for q := range n {
		var sum float64
		for k := range n {
			sum += math.Abs(h.s.At(q, k))
		}
		largest = max(largest, sum)
	}
	damped := mat.NewSymDense(n, nil)
	damped.CopySym(h.s)
	for q := range n {
		damped.SetSym(q, q, damped.At(q, q)+flatness*largest)
	}
	var factor mat.Cholesky
	if !factor.Factorize(damped) {
		return false
	}
	var step mat.VecDense
	g := mat.NewVecDense(n, h.gradient)
	if factor.SolveVecTo(&step, g) != nil {
		return false
	}
	return mat.Dot(g, &step)/2 > gain
}

// reducedGradient returns the scaled g - sum_i B_i C_i^-1 g_i, for derivatives that were
// eliminated.
func (p *prober) reducedGradient() []float64 {
	d, n := p.Dim, p.Inner()
	f, g := make([]float64, n), make([]float64, p.Outer)
	for i := range p.Rows {
		for j, v := range p.InnerGrad[i*d : (i+1)*d] {
			for l := range d {
				f[i*d+l] += p.C[(i*d+j)*d+l] * v
			}
		}
	}
	for q := range g {
		g[q] = (p.OuterGrad[q] - floats.Dot(p.B[q*n:(q+1)*n], f)) * p.scale[q]
	}
	return g
}

// NewtonStep returns the outer coordinates of the undamped Newton step, -S^-1 times the
// reduced gradient, with the magnitudes of eigenvalues and without the directions in
// which it would lower the cost by a rounding error only, such as those that leave it as
// it is.
func (h *ReducedHessian) NewtonStep() []float64 {
	step := make([]float64, len(h.scale))
	for k, w := range h.values {
		v := mat.Col(nil, k, &h.vectors)
		c := floats.Dot(v, h.gradient)
		if w = math.Abs(w); c*c/2 <= minPrediction*h.cost*w || w == 0 {
			continue
		}
		for q, u := range v {
			step[q] -= c / w * u * h.scale[q]
		}
	}
	return step
}

// Decrement returns by how much an undamped Newton step would lower the cost, were it
// quadratic: half of the gradient times S^-1 times the gradient.
func (h *ReducedHessian) Decrement() float64 {
	var sum float64
	for k, w := range h.values {
		if c := floats.Dot(mat.Col(nil, k, &h.vectors), h.gradient); h.counts(k) {
			sum += c * c / (2 * w)
		}
	}
	return sum
}

// counts reports whether the curvature along eigenvector k is above rounding.
func (h *ReducedHessian) counts(k int) bool { return h.values[k] > flatness*h.values[len(h.values)-1] }

// Whiten writes S^-1/2 g into dst, along the eigenvectors of S, without the directions of
// no or of negative curvature: half of its square is what following a change g of the
// gradient gains.
func (h *ReducedHessian) Whiten(dst, g []float64) {
	clear(dst)
	for q, v := range g {
		floats.AddScaled(dst, v*h.scale[q], h.vectors.RawRowView(q))
	}
	for k, w := range h.values {
		if dst[k] /= math.Sqrt(max(w, 0)); !h.counts(k) {
			dst[k] = 0
		}
	}
}

// Follow writes -S^-1 g into dst for a whitened g: the step that follows a change of the
// gradient.
func (h *ReducedHessian) Follow(dst, white []float64) {
	u := make([]float64, len(white))
	for k, w := range h.values {
		if h.counts(k) {
			u[k] = white[k] / math.Sqrt(w)
		}
	}
	for q := range dst {
		dst[q] = -h.scale[q] * floats.Dot(h.vectors.RawRowView(q), u)
	}
}
