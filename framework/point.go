package framework

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Point is a point of a product of manifolds, or a tangent vector or gradient
// there: one flat slice per block, in the order of the problem's blocks. A nil
// slice stands for "not asked for" where a call says so.
type Point [][]float64

// NewPoint returns zeros in the shape of the blocks.
func NewPoint(blocks []Block) Point {
	x := make(Point, len(blocks))
	for k, b := range blocks {
		x[k] = make([]float64, b.Size())
	}
	return x
}

// Clone returns a copy that shares no memory with x.
func (x Point) Clone() Point {
	y := make(Point, len(x))
	for k := range x {
		y[k] = slices.Clone(x[k])
	}
	return y
}

// CopyFrom overwrites x with y, which must have the same shape.
func (x Point) CopyFrom(y Point) {
	for k := range x {
		copy(x[k], y[k])
	}
}

// Equal reports whether x and y agree bit for bit, up to the sign of zero.
func (x Point) Equal(y Point) bool {
	return slices.EqualFunc(x, y, slices.Equal[[]float64])
}

// Finite reports whether every coordinate is finite.
func (x Point) Finite() bool {
	for _, b := range x {
		if s := floats.Sum(b); s-s == 0 {
			continue // of what is not finite, no sum is
		}
		for _, v := range b {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return false
			}
		}
	}
	return true
}

// Zero sets every coordinate to 0.
func (x Point) Zero() {
	for _, b := range x {
		clear(b)
	}
}

// Scale multiplies x by a.
func (x Point) Scale(a float64) {
	for _, b := range x {
		floats.Scale(a, b)
	}
}

// AddScaled adds a y to x.
func (x Point) AddScaled(a float64, y Point) {
	for k, b := range x {
		floats.AddScaled(b, a, y[k])
	}
}

// Dot is the sum of the products of coordinates. It is the inner product of
// tangent vectors where no block has a [Metric]; see [Product.Inner] for others.
func (x Point) Dot(y Point) float64 {
	var sum float64
	for k, b := range x {
		sum += floats.Dot(b, y[k])
	}
	return sum
}

// Norm is the square root of Dot(x, x), without overflow.
func (x Point) Norm() float64 {
	var norm float64
	for _, b := range x {
		norm = math.Hypot(norm, floats.Norm(b, 2))
	}
	return norm
}
