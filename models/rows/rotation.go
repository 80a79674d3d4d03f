package rows

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// Rotation holds the coordinates y_i of rows x_i = mean + H y_i, H orthogonal, in which a symmetric
// matrix M = HTH' is diagonal. The form r'Mr has the same values, and gradients of the same
// coordinates, for the rows y_i and T; Q'Q = I stays as it is.
type Rotation struct {
	D    int
	mean []float64
	h    []float64 // D x D: H
}

// NewRotation finds H and the diagonal of T for the D x D matrix M, and rotates the rows: about 9D^3 operations
// and 2nD^2. It returns nil if the eigenvectors cannot be computed, for example because M is not finite.
func NewRotation(x Data, m []float64) (*Rotation, []float64, Data) {
	eigen := dense.NewSymmetricEigen(x.D)
	copy(eigen.A, m)
	if !eigen.Factorize() {
		return nil, nil, x
	}
	f := &Rotation{x.D, Mean(x), eigen.A}
	turned := x
	turned.X = make([]float64, len(x.X))
	for from := 0; from < x.N; from += rotatedRows {
		to := min(from+rotatedRows, x.N) * x.D
		f.ShrinkPoint(turned.X[from*x.D:to], x.X[from*x.D:to])
	}
	return f, eigen.Values, turned
}

// rotatedRows is the number of rows rotated at a time.
const rotatedRows = 64

// ShrinkPoint writes the rotated coordinates H'(c - mean) of points c.
func (f *Rotation) ShrinkPoint(dst, c []float64) {
	centred := slices.Clone(c)
	for i := 0; i < len(c); i += f.D {
		floats.Sub(centred[i:i+f.D], f.mean)
	}
	clear(dst)
	dense.AddRowProduct(dst, centred, f.h, len(c)/f.D, f.D, f.D)
}

// ExpandPoint is the inverse of ShrinkPoint.
func (f *Rotation) ExpandPoint(dst, c []float64) {
	f.ExpandFrame(dst, c, 1)
	floats.Add(dst, f.mean)
}

// ExpandFrame writes H times Q, D x m.
func (f *Rotation) ExpandFrame(dst, q []float64, m int) {
	clear(dst)
	dense.AddRowProduct(dst, f.h, q, f.D, f.D, m)
}
