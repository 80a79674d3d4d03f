package sheet

import "github.com/scqm/scqm/internal/dense"

// The products of many rows with the frame of a sheet take 2nDm operations, most of
// the time where rows are long.

const (
	// someRows and someAxes are the tile sizes with which products are transposed.
	someRows = 64
	someAxes = 6
)

// AddImages adds Q z_i to row i of r, n x D, for the n rows z_i of z, n x m.
func (f *Sheet) AddImages(r, z []float64, n int) { dense.AddRowProduct(r, z, f.QT, n, f.M, f.D) }

// RowsToFrame writes Q'g_i for each of n rows of g, n x D, into b, n x m.
func (f *Sheet) RowsToFrame(b, g []float64, n int) {
	var y [someRows * someAxes]float64
	for from := 0; from < n; from += someRows {
		rows := min(someRows, n-from)
		for k := 0; k < f.M; k += someAxes {
			axes := min(someAxes, f.M-k)
			dense.FrameProducts(y[:], someRows, nil, g[from*f.D:], nil, f.QT[k*f.D:], rows, axes, f.D)
			for i := range rows {
				to := b[(from+i)*f.M+k:][:axes]
				for j := range to {
					to[j] = y[j*someRows+i]
				}
			}
		}
	}
}

// DeviationsToFrame computes y_i = Q'(x_i - c) and squares[i] = |x_i - c|^2 for the n rows of x, n x D. Component k of
// y_i is y[k*stride+i], for the m columns of Q.
func (f *Sheet) DeviationsToFrame(y []float64, stride int, squares, x []float64, n int) {
	dense.FrameProducts(y, stride, squares, x, f.C, f.QT, n, f.M, f.D)
}
