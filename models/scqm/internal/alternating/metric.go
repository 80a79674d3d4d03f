package alternating

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// A metric is a diagonal matrix M = R'R, held by the diagonal of R; nil stands for I.
type metric []float64

// newMetric returns the metric of a loss, or nil for a loss without a matrix. It returns false if the matrix is not
// positive definite to working precision.
func newMetric(l framework.Loss) (m metric, ok bool) {
	form, ok := l.(*nearest.DiagonalForm)
	if !ok {
		return nil, true
	}
	m = make(metric, form.Dim())
	for k, v := range form.Values {
		if !(v > 0) {
			return nil, false
		}
		m[k] = math.Sqrt(v)
	}
	return m, true
}

// Whiten replaces the rows of x by Rx. The squared norm of a whitened residual is then r'Mr.
func (m metric) Whiten(x []float64) {
	for i := 0; m != nil && i < len(x); i += len(m) {
		floats.Mul(x[i:i+len(m)], m)
	}
}

// Unwhiten replaces the rows of x by R^-1 x.
func (m metric) Unwhiten(x []float64) {
	for i := 0; m != nil && i < len(x); i += len(m) {
		floats.Div(x[i:i+len(m)], m)
	}
}

// frame is a sheet in whitened coordinates, in which its axes, the columns of RQ, are not orthonormal.
type frame struct {
	*sheet.Sheet
	metric  metric
	centre  []float64 // D: Rc
	axes    []float64 // m x D: RQ
	inverse []float64 // m x D: A^-1 (RQ)'
	gram    []float64 // m x m: A = Q'MQ; nil for I
	factor  []float64 // m x m
	solved  []float64 // m x m: A^-1
}

// newFrame returns a frame for the sheets that will be loaded into f.
func newFrame(f *sheet.Sheet, m metric) *frame {
	if m == nil {
		return &frame{Sheet: f, metric: m, centre: f.C, axes: f.QT, inverse: f.QT}
	}
	vec := func(n int) []float64 { return make([]float64, n) }
	return &frame{
		Sheet: f, metric: m, centre: vec(f.D), axes: vec(f.M * f.D), inverse: vec(f.M * f.D),
		gram: vec(f.M * f.M), factor: vec(f.M * f.M), solved: vec(f.M * f.M),
	}
}

// reload recomputes the frame after a change of the sheet.
func (w *frame) reload() {
	if w.gram == nil {
		return
	}
	copy(w.centre, w.C)
	w.metric.Whiten(w.centre)
	copy(w.axes, w.QT)
	w.metric.Whiten(w.axes)
	dense.FrameProducts(w.gram, w.M, nil, w.axes, nil, w.axes, w.M, w.M, w.D)
	copy(w.factor, w.gram)
	if !dense.Cholesky(w.factor, w.M, 0) {
		dense.JitteredCholesky(w.factor, w.M)
	}
	clear(w.solved)
	for i := range w.M {
		w.solved[i*w.M+i] = 1
	}
	dense.SolveCholeskyRows(w.solved, w.factor, w.M, w.M)
	clear(w.inverse)
	dense.AddRowProduct(w.inverse, w.solved, w.axes, w.M, w.M, w.D)
}
