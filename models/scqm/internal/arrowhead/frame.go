package arrowhead

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Frame is an orthonormal basis of R^D that begins with the columns of Q. Residuals and Hessians of losses are
// expressed in it. Completing Q takes about 2D^3 operations, and a row takes D^2.
type Frame struct {
	f         *sheet.Sheet
	W         []float64 // D x D: its vectors as rows
	remainder []float64 // D: squared distance of every coordinate axis from the rows so far

	moved []float64 // m x D: Q after a step
	polar *dense.Polar
}

func newFrame(f *sheet.Sheet) *Frame {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &Frame{
		f: f, W: vec(f.D * f.D), remainder: vec(f.D), moved: vec(f.M * f.D), polar: dense.NewPolar(f.M, f.D),
	}
}

// Axis returns basis vector r of the frame.
func (b *Frame) Axis(r int) []float64 { return b.W[r*b.f.D : (r+1)*b.f.D] }

// Complete computes the frame of the sheet: the columns of Q, then the orthogonalised coordinate axis farthest
// from the span so far, D - m times. It depends on Q only.
func (b *Frame) Complete() {
	D, m := b.f.D, b.f.M
	if slices.Equal(b.W[:m*D], b.f.QT) {
		return // it is that of this Q
	}
	copy(b.W, b.f.QT)
	for j := range b.remainder {
		b.remainder[j] = 1
		for i := range m {
			b.remainder[j] -= b.W[i*D+j] * b.W[i*D+j]
		}
	}
	for i := m; i < D; i++ {
		row := b.Axis(i)
		clear(row)
		row[floats.MaxIdx(b.remainder)] = 1
		dense.OrthogonalizeRow(b.W, i, D)
		for j, v := range row {
			b.remainder[j] -= v * v
		}
	}
}

// toFrame writes the coordinates of x - c in the frame into y.
func (b *Frame) toFrame(y, x []float64) {
	D, c := b.f.D, b.f.C
	for r := range y {
		axis := b.W[r*D : (r+1)*D]
		var sum float64
		for j, v := range axis {
			sum += v * (x[j] - c[j])
		}
		y[r] = sum
	}
}

// Quadratic writes 2 W'MW, the Hessian of r'Mr in the frame.
func (b *Frame) Quadratic(dst, m []float64) {
	D := b.f.D
	for r := range D {
		for j := range D {
			b.remainder[j] = 2 * floats.Dot(m[j*D:(j+1)*D], b.Axis(r))
		}
		for q := range D {
			dst[r*D+q] = floats.Dot(b.remainder, b.Axis(q))
		}
	}
}

// Restore writes Wy. It is the inverse of Rotate.
func (b *Frame) Restore(dst, y []float64) {
	clear(dst)
	for r, v := range y {
		floats.AddScaled(dst, v, b.Axis(r))
	}
}

// Rotate writes the coordinates of x in the frame.
func (b *Frame) Rotate(dst, x []float64) {
	for r := range dst {
		dst[r] = dense.Dot(b.Axis(r), x)
	}
}
