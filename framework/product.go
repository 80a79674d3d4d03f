package framework

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Product is a product of named blocks, the domain of a problem. Its points and tangent vectors have one slice per
// block. Its inner product is the sum over the blocks. Product(p.Blocks()) is the domain of the problem p.
type Product []Block

// Size is the number of coordinates.
func (m Product) Size() int {
	var n int
	for _, b := range m {
		n += b.Size()
	}
	return n
}

// Dim is the dimension.
func (m Product) Dim() int {
	var n int
	for _, b := range m {
		n += b.Dim()
	}
	return n
}

// Project writes the tangent projection of v at x into dst.
func (m Product) Project(dst, x, v Point) {
	for k, b := range m {
		b.Project(dst[k], x[k], v[k])
	}
}

// Gradient converts a Euclidean gradient into the Riemannian one.
func (m Product) Gradient(dst, x, g Point) {
	for k, b := range m {
		b.Gradient(dst[k], x[k], g[k])
	}
}

// Inner is the inner product of the tangent vectors u and v at x.
func (m Product) Inner(x, u, v Point) float64 {
	var sum float64
	for k, b := range m {
		sum += b.Inner(x[k], u[k], v[k])
	}
	return sum
}

// Norm is the length of the tangent vector v at x.
func (m Product) Norm(x, v Point) float64 {
	var norm float64
	for k, b := range m {
		norm = math.Hypot(norm, b.Norm(x[k], v[k]))
	}
	return norm
}

// Transport moves the tangent vector v from x to y.
func (m Product) Transport(dst, x, y, v Point) {
	for k, b := range m {
		b.Transport(dst[k], x[k], y[k], v[k])
	}
}

// Retract moves x along v. Errors name the block.
func (m Product) Retract(dst, x, v Point) error {
	return m.each(func(k int, b Block) error { return b.Retract(dst[k], x[k], v[k]) })
}

// Exp moves x along the geodesic of v, see [Block.Exp].
func (m Product) Exp(dst, x, v Point) error {
	return m.each(func(k int, b Block) error { return b.Exp(dst[k], x[k], v[k]) })
}

// Log writes the tangent vector at x that leads to y, see [Block.Log].
func (m Product) Log(dst, x, y Point) error {
	return m.each(func(k int, b Block) error { return b.Log(dst[k], x[k], y[k]) })
}

// Hessian converts Euclidean second derivatives block by block, see
// [Block.Hessian].
func (m Product) Hessian(dst, x, g, h, v Point) error {
	return m.each(func(k int, b Block) error { return b.Hessian(dst[k], x[k], g[k], h[k], v[k]) })
}

// Distance is the length of the shortest geodesic from x to y, see
// [Block.Distance].
func (m Product) Distance(x, y Point) (float64, error) {
	var sum float64
	err := m.each(func(k int, b Block) error {
		d, err := b.Distance(x[k], y[k])
		sum = math.Hypot(sum, d)
		return err
	})
	return sum, err
}

// Rand fills x with random points. It fails if a manifold has no random points.
func (m Product) Rand(x Point, rng *rand.Rand) error {
	return m.each(func(k int, b Block) error {
		if !b.Rand(x[k], rng) {
			return b.lacks("random points")
		}
		return nil
	})
}

// Violation is the largest distance of a block from its constraints.
func (m Product) Violation(x Point) float64 {
	var worst float64
	for k, b := range m {
		worst = math.Max(worst, b.Violation(x[k]))
	}
	return worst
}

// Restore moves every block back onto its manifold.
func (m Product) Restore(x Point) error {
	return m.each(func(k int, b Block) error { return b.Restore(x[k]) })
}

// each calls do for every block, and names the block in its error.
func (m Product) each(do func(k int, b Block) error) error {
	for k, b := range m {
		if err := do(k, b); err != nil {
			return fmt.Errorf("block %s: %w", b.Name, err)
		}
	}
	return nil
}
