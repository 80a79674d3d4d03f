package solvers

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
)

// Methods that package framework finds by name.
type (
	selective interface {
		Lacks(p framework.Problem) string
	}
	resumer interface {
		Resume(grad framework.Point) error
	}
	resumable interface {
		Resume(e *framework.Evaluator) error
	}
)

// inner is the inner product of two tangent vectors at x.
func inner(blocks []framework.Block, x, u, v framework.Point) float64 {
	var sum float64
	for k, b := range blocks {
		if _, ok := b.Manifold.(framework.Metric); ok {
			sum += b.Inner(x[k], u[k], v[k])
		} else {
			sum += dense.InnerProduct(u[k], v[k])
		}
	}
	return sum
}

// addScaled adds a v to u.
func addScaled(u framework.Point, a float64, v framework.Point) {
	for k := range u {
		dense.AddScaled(u[k], a, v[k])
	}
}

// negate writes -u into dst.
func negate(dst, u framework.Point) {
	for k := range dst {
		floats.ScaleTo(dst[k], -1, u[k])
	}
}

// only returns the slices of x for block k alone, to request one gradient.
func only(x framework.Point, k int) framework.Point {
	y := make(framework.Point, len(x))
	y[k] = x[k]
	return y
}

// with returns x with block k replaced, sharing memory.
func with(x framework.Point, k int, block []float64) framework.Point {
	y := make(framework.Point, len(x))
	copy(y, x)
	y[k] = block
	return y
}

// nearRounding is the predicted decrease, relative to the cost, below which differences of costs are dominated
// by rounding, and costNoise the largest relative increase of the cost by rounding.
const nearRounding, costNoise = 1e-10, 1e-11

// polyak is the step after which a linear cost reaches zero, or for a cost of
// zero one of unit length.
func polyak(cost, slope float64) float64 {
	if eta := math.Abs(cost) / slope; eta > 0 && !math.IsInf(eta, 0) {
		return eta
	}
	return 1 / math.Sqrt(slope)
}
