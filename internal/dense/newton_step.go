package dense

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// NewtonStep solves (H + shift I) step = -g for a symmetric d x d matrix h,
// with the smallest shift of those tried that makes the matrix safely positive
// definite: none, else one from Gershgorin's circles. h is overwritten. The
// step is a descent direction.
func NewtonStep(step, h, g []float64) {
	d := len(g)
	var size, lower float64
	lower = math.Inf(1)
	for i := range d {
		var off float64
		for j := range d {
			if j != i {
				off += math.Abs(h[i*d+j])
			}
		}
		size = math.Max(size, math.Abs(h[i*d+i])+off)
		lower = math.Min(lower, h[i*d+i]-off)
	}
	if size == 0 || math.IsInf(size, 0) || math.IsNaN(size) {
		floats.ScaleTo(step, -1, g)
		return
	}
	const flat = 1e-10 // curvature, relative to the largest, that counts as none
	if !Cholesky(h, d, flat*size) {
		shift := 2*math.Max(0, -lower) + 1e-3*size
		for i := range d {
			h[i*d+i] += shift
		}
		Cholesky(h, d, 0)
	}
	floats.ScaleTo(step, -1, g)
	SolveCholesky(step, h, d)
}
