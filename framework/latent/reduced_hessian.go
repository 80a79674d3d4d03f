package latent

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
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
// ([ArrowheadHessian]), by its eigenvalues.
type ReducedHessian struct {
	cost     float64
	scale    []float64       // of v, to a diagonal of A of 1
	gradient []float64       // of the cost with respect to v, the inner rows following, scaled
	s        []float64       // P x P, its lower triangle
	spectral *dense.Spectral // of s, from Decompose on
	largest  float64         // eigenvalue
}

// ReduceHessian returns the reduced Hessian of p at x. It reports false where there are
// no second derivatives at x, or too large ones ([ArrowheadShape.Probeable]).
func ReduceHessian(p framework.Problem, x framework.Point) (h *ReducedHessian, ok bool, err error) {
	a, ok := framework.As[ArrowheadHessian](p)
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

// Decompose finds the eigenvalues of S, which all other methods but
// [ReducedHessian.Promises] need and which take four times as long as a factorization. It
// reports false where they are not found.
func (h *ReducedHessian) Decompose() bool {
	h.spectral = dense.NewSpectral(len(h.scale))
	if !h.spectral.Factorize(h.s) {
		return false
	}
	h.largest = floats.Max(h.spectral.Values)
	return true
}

// Promises reports whether an undamped Newton step would lower the cost by more than gain,
// were it quadratic, without eigenvectors: true is certain but for directions of no curvature,
// and false may be wrong where S has negative curvature.
func (h *ReducedHessian) Promises(gain float64) bool {
	n := len(h.scale)
	damped, sums := slices.Clone(h.s), make([]float64, n) // the sums of the rows bound the eigenvalues
	for q := range n {
		for k, v := range h.s[q*n : q*n+q] {
			sums[q] += math.Abs(v)
			sums[k] += math.Abs(v)
		}
		sums[q] += math.Abs(h.s[q*n+q])
	}
	for q, largest := 0, floats.Max(sums); q < n; q++ {
		damped[q*n+q] += flatness * largest
	}
	if !dense.FactorCholesky(damped, n, 0, 0) {
		return false
	}
	step := slices.Clone(h.gradient)
	dense.SolveCholesky(step, damped, n)
	return floats.Dot(h.gradient, step)/2 > gain
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
// reduced gradient. Eigenvalues count by their magnitude. Directions in which the predicted
// reduction is a rounding error are left out, such as those along which the cost is constant.
func (h *ReducedHessian) NewtonStep() []float64 {
	step := slices.Clone(h.gradient)
	h.spectral.ToEigen(step)
	for k, w := range h.spectral.Values {
		c := step[k]
		if w = math.Abs(w); c*c/2 <= minPrediction*h.cost*w || w == 0 {
			step[k] = 0
			continue
		}
		step[k] = -c / w
	}
	h.spectral.FromEigen(step)
	floats.Mul(step, h.scale)
	return step
}

// Decrement returns by how much an undamped Newton step would lower the cost, were it
// quadratic: half of the gradient times S^-1 times the gradient.
func (h *ReducedHessian) Decrement() float64 {
	var sum float64
	along := slices.Clone(h.gradient)
	h.spectral.ToEigen(along)
	for k, c := range along {
		if h.counts(k) {
			sum += c * c / (2 * h.spectral.Values[k])
		}
	}
	return sum
}

// counts reports whether the curvature along eigenvector k is above rounding.
func (h *ReducedHessian) counts(k int) bool { return h.spectral.Values[k] > flatness*h.largest }

// Whiten writes S^-1/2 g into dst, along the eigenvectors of S, without the directions of
// no or of negative curvature: half of its square is what following a change g of the
// gradient gains.
func (h *ReducedHessian) Whiten(dst, g []float64) {
	floats.MulTo(dst, g, h.scale)
	h.spectral.ToEigen(dst)
	for k, w := range h.spectral.Values {
		if dst[k] /= math.Sqrt(max(w, 0)); !h.counts(k) {
			dst[k] = 0
		}
	}
}

// Follow writes -S^-1 g into dst for a whitened g: the step that follows a change of the
// gradient.
func (h *ReducedHessian) Follow(dst, white []float64) {
	for k, w := range h.spectral.Values {
		if dst[k] = 0; h.counts(k) {
			dst[k] = -white[k] / math.Sqrt(w)
		}
	}
	h.spectral.FromEigen(dst)
	floats.Mul(dst, h.scale)
}
