package rows

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/scqm/scqm/internal/dense"
)

// Span holds the coordinates of n < D rows in the space they span: x_i = mean
// + B y_i with orthonormal B, D x n. A loss that is a function of |r| has the
// same values, and gradients of the same coordinates, for the rows y_i; and by
// convexity in the part of Q inside of the span there is an optimum with all of
// Q in it. A solver that starts in the span and is equivariant under rotations
// never leaves it.
type Span struct {
	N, D int
	mean []float64
	bt   []float64 // n x D, the transpose of B
}

// NewSpan factors the centred rows into a lower triangular matrix, whose rows are the new
// coordinates, and orthonormal rows B'.
func NewSpan(x Data) (*Span, Data) {
	n := x.N
	f := &Span{N: n, D: x.D, mean: Mean(x), bt: make([]float64, n*x.D)}
	for i := range n {
		floats.SubTo(f.bt[i*x.D:(i+1)*x.D], x.Row(i), f.mean)
	}
	a := blas64.General{Rows: n, Cols: x.D, Stride: x.D, Data: f.bt}
	tau, size := make([]float64, n), []float64{0}
	lapack64.Gelqf(a, tau, size, -1)
	work := make([]float64, int(size[0]))
	lapack64.Gelqf(a, tau, work, len(work))
	rows := Data{N: n, D: n, X: make([]float64, n*n), Weights: x.Weights}
	for i := range n {
		copy(rows.Row(i), f.bt[i*x.D:i*x.D+i+1])
	}
	lapack64.Orglq(a, tau, size, -1)
	work = make([]float64, int(size[0]))
	lapack64.Orglq(a, tau, work, len(work))
	return f, rows
}

// Dims returns the lengths of rows in the new and the original coordinates.
func (f *Span) Dims() (inside, outside int) { return f.N, f.D }

// ShrinkPoint writes the new coordinates of a point c.
func (f *Span) ShrinkPoint(dst, c []float64) {
	diff := make([]float64, f.D)
	floats.SubTo(diff, c, f.mean)
	for i := range dst {
		dst[i] = floats.Dot(f.bt[i*f.D:(i+1)*f.D], diff)
	}
}

// ShrinkFrame writes B'Q, n x m, for Q of D x m.
func (f *Span) ShrinkFrame(dst, q []float64, m int) {
	dense.AddRowProduct(dst, f.bt, q, f.N, f.D, m)
}

// ExpandPoint is the inverse of ShrinkPoint.
func (f *Span) ExpandPoint(dst, c []float64) {
	copy(dst, f.mean)
	for i, v := range c {
		floats.AddScaled(dst, v, f.bt[i*f.D:(i+1)*f.D])
	}
}

// ExpandFrame adds B times Q, n x m, to dst, D x m.
func (f *Span) ExpandFrame(dst, q []float64, m int) {
	dense.AddProduct(dst, f.bt, q, f.N, f.D, m)
}
