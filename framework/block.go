package framework

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// maxViolation is the largest distance from its manifold of an accepted point.
const maxViolation = 1e-6

// Block is a named factor of a problem's domain: Copies points of one manifold,
// stored one after the other. The copies of a block are its rows.
type Block struct {
	// Name identifies the block in results and errors, such as "Q".
	Name string
	// Manifold is the manifold of one copy.
	Manifold Manifold
	// Copies is the number of copies; 0 stands for 1.
	Copies int
}

// Rows is the number of copies, at least 1.
func (b Block) Rows() int { return max(b.Copies, 1) }

// Size is the number of coordinates of the block.
func (b Block) Size() int { return b.Rows() * b.Manifold.Size() }

// Dim is the dimension of the block.
func (b Block) Dim() int { return b.Rows() * b.Manifold.Dim() }

// Row returns copy i of x.
func (b Block) Row(x []float64, i int) []float64 {
	n := b.Manifold.Size()
	return x[i*n : (i+1)*n : (i+1)*n]
}

// Project writes the tangent projection of v at x into dst.
func (b Block) Project(dst, x, v []float64) {
	for i := range b.Rows() {
		b.Manifold.Project(b.Row(dst, i), b.Row(x, i), b.Row(v, i))
	}
}

// Retract moves every copy of x along v.
func (b Block) Retract(dst, x, v []float64) error {
	for i := range b.Rows() {
		if err := b.Manifold.Retract(b.Row(dst, i), b.Row(x, i), b.Row(v, i)); err != nil {
			return err
		}
	}
	return nil
}

// Transport moves the tangent vector v from x to y, by the manifold's own
// transport or by projection.
func (b Block) Transport(dst, x, y, v []float64) {
	t, ok := b.Manifold.(Transporter)
	if !ok {
		b.Project(dst, y, v)
		return
	}
	for i := range b.Rows() {
		t.Transport(b.Row(dst, i), b.Row(x, i), b.Row(y, i), b.Row(v, i))
	}
}

// Gradient converts a Euclidean gradient into the Riemannian one.
func (b Block) Gradient(dst, x, g []float64) {
	m, ok := b.Manifold.(Metric)
	if !ok {
		b.Project(dst, x, g)
		return
	}
	for i := range b.Rows() {
		m.Gradient(b.Row(dst, i), b.Row(x, i), b.Row(g, i))
	}
}

// Inner is the inner product of the tangent vectors u and v at x.
func (b Block) Inner(x, u, v []float64) float64 {
	m, ok := b.Manifold.(Metric)
	if !ok {
		return floats.Dot(u, v)
	}
	var sum float64
	for i := range b.Rows() {
		sum += m.Inner(b.Row(x, i), b.Row(u, i), b.Row(v, i))
	}
	return sum
}

// Norm is the length of the tangent vector v at x. It does not overflow if the metric is the inherited one.
func (b Block) Norm(x, v []float64) float64 {
	square := b.Inner(x, v, v)
	if _, ok := b.Manifold.(Metric); ok || square > 0x1p-900 && square < 0x1p900 {
		return math.Sqrt(square)
	}
	return floats.Norm(v, 2) // which scales, and takes ten times as long
}

// Violation is the largest distance of a copy from its constraints; 0 if the manifold has none.
func (b Block) Violation(x []float64) float64 {
	c, ok := b.Manifold.(Constrained)
	if !ok {
		return 0
	}
	var worst float64
	for i := range b.Rows() {
		worst = math.Max(worst, c.Violation(b.Row(x, i)))
	}
	return worst
}

// Restore moves every copy back onto the manifold.
func (b Block) Restore(x []float64) error {
	c, ok := b.Manifold.(Constrained)
	if !ok {
		return nil
	}
	for i := range b.Rows() {
		if err := c.Restore(b.Row(x, i)); err != nil {
			return err
		}
	}
	return nil
}

// Rand fills x with random points. It returns false if the manifold has no random points.
func (b Block) Rand(x []float64, rng *rand.Rand) bool {
	r, ok := b.Manifold.(Rander)
	if !ok {
		return false
	}
	for i := range b.Rows() {
		r.Rand(b.Row(x, i), rng)
	}
	return true
}
