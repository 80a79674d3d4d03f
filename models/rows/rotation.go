package rows

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// Rotation holds the coordinates y_i of rows x_i = mean + H y_i, H orthogonal, in which a symmetric
// matrix M = HTH' is a tridiagonal one. The form r'Mr has the same values, and gradients of the same
// coordinates, for the rows y_i and T; Q'Q = I stays as it is.
type Rotation struct {
	D    int
	mean []float64
	h    *dense.Reflections
}

// NewRotation finds H and T for M, D x D and D > 1, and turns the rows: 4D^3/3 operations and 4nD^2.
func NewRotation(x Data, m []float64) (*Rotation, *dense.Tridiagonal, Data) {
	t, h := dense.Tridiagonalize(m, x.D)
	f := &Rotation{x.D, Mean(x), h}
	rows := x
	rows.X = make([]float64, len(x.X))
	for i := range x.N {
		floats.SubTo(rows.Row(i), x.Row(i), f.mean)
	}
	h.Rows(rows.X, false)
	return f, t, rows
}

// Dims returns the lengths of rows in both coordinates.
func (f *Rotation) Dims() (inside, outside int) { return f.D, f.D }

// ShrinkPoint writes the coordinates of a point c.
func (f *Rotation) ShrinkPoint(dst, c []float64) {
	floats.SubTo(dst, c, f.mean)
	f.h.Rows(dst, false)
}

// ShrinkFrame writes H'Q for Q of D x m.
func (f *Rotation) ShrinkFrame(dst, q []float64, m int) {
	copy(dst, q)
	f.h.Columns(dst, m, false)
}

// ExpandPoint is the inverse of ShrinkPoint.
func (f *Rotation) ExpandPoint(dst, c []float64) {
	copy(dst, c)
	f.h.Rows(dst, true)
	floats.Add(dst, f.mean)
}

// ExpandFrame writes H times Q, D x m.
func (f *Rotation) ExpandFrame(dst, q []float64, m int) {
	copy(dst, q)
	f.h.Columns(dst, m, true)
}

// ExpandAxes overwrites every row a of axes, of length D, by Ha.
func (f *Rotation) ExpandAxes(axes []float64) { f.h.Rows(axes, true) }
