package solvers

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
)

// toGradient turns a Euclidean gradient at x into the Riemannian one.
func toGradient(blocks []framework.Block, g, x framework.Point) {
	for k, b := range blocks {
		b.Gradient(g[k], x[k], g[k])
	}
}

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

func dimension(blocks []framework.Block) int {
	n := 0
	for _, b := range blocks {
		n += b.Dim()
	}
	return n
}

// negate writes -u into dst.
func negate(dst, u framework.Point) {
	for k := range dst {
		floats.ScaleTo(dst[k], -1, u[k])
	}
}

// only returns the slices of x for block k alone, to ask for one gradient.
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
