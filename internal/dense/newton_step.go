package dense

import "math"

const (
	// Flat is the curvature, relative to the largest entry of a Hessian, that counts as zero.
	Flat = 1e-10
	// raised is the least curvature, in units of what counts as zero, to which NewtonStep raises eigenvalues.
	raised = 1e7
)

// NewtonStep writes -H^-1 g for a symmetric d x d matrix h that is safely positive definite: with pivots above flat
// times its largest entry. For other matrices it writes -|H|^-1 g, in which eigenvalues are replaced by their
// magnitudes and raised to at least 1e7 flat times the largest entry. h is overwritten. The step is a descent
// direction.
//
// Source: J. Greenstadt, On the relative efficiencies of gradient methods,
// Mathematics of Computation 21 (1967) 360-367.
func NewtonStep(step, h, g []float64, flat float64) {
	d := len(g)
	var size float64
	for _, v := range h[:d*d] {
		size = math.Max(size, math.Abs(v))
	}
	for i, v := range g { // without floats, whose arguments escape
		step[i] = -v
	}
	if size == 0 || math.IsInf(size, 0) || math.IsNaN(size) {
		return
	}
	if d == 2 && planeStep(step, h, flat*size) {
		return
	}
	if Cholesky(h, d, flat*size) {
		SolveCholesky(step, h, d)
		return
	}
	var buffer [64]float64
	axes := buffer[:]
	if d*d > len(axes) {
		axes = make([]float64, d*d)
	}
	axes = axes[:d*d]
	JacobiEigen(h, axes, d)
	clear(step)
	for k := range d {
		axis := axes[k*d : (k+1)*d]
		by := math.Max(math.Abs(h[k*d+k]), raised*flat*size)
		by = -Dot(axis, g) / by
		for i, v := range axis {
			step[i] += float64(by * v)
		}
	}
}

// planeStep solves Hx = step in place for a 2 x 2 matrix, bit-identical to Cholesky and
// SolveCholesky. It returns false if a pivot is not above least.
func planeStep(step, h []float64, least float64) bool {
	h, step = h[:4:4], step[:2:2]
	if !(h[0] > least) {
		return false
	}
	first := math.Sqrt(h[0])
	across := h[2] * (1 / first)
	pivot := h[3] - float64(across*across)
	if !(pivot > least) {
		return false
	}
	last := math.Sqrt(pivot)
	x := step[0] / first
	y := (step[1] - float64(across*x)) / last / last
	step[0], step[1] = (x-float64(across*y))/first, y
	return true
}
