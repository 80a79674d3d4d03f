package alternating

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// A metric is a positive definite matrix M = R'R, D x D. Its methods take the rows of x, of length D,
// one by one, in place.
type metric interface {
	// Whiten multiplies by R, so that r'Mr is the squared norm.
	Whiten(x []float64)
	// Unwhiten multiplies by R^-1, and Unpull by R'^-1.
	Unwhiten(x []float64)
	Unpull(x []float64)
}

// newMetric factors the matrix of a loss, and reports false where it is not positive definite to
// working precision.
func newMetric(l framework.Quadratic, D int) (metric, bool) {
	if t, ok := l.(*nearest.TridiagonalForm); ok {
		f, ok := t.M.Factor()
		if !ok {
			return nil, false
		}
		return bidiagonal{f.Roots()}, true
	}
	var c mat.Cholesky
	if !c.Factorize(mat.NewSymDense(D, l.Matrix())) {
		return nil, false
	}
	var upper mat.TriDense
	c.UTo(&upper)
	return triangular{upper.RawTriangular()}, true
}

// euclidean is the metric I.
type euclidean struct{}

func (euclidean) Whiten([]float64)   {}
func (euclidean) Unwhiten([]float64) {}
func (euclidean) Unpull([]float64)   {}

// bidiagonal is the metric of a tridiagonal matrix: three operations per entry.
type bidiagonal struct{ *dense.Bidiagonal }

func (f bidiagonal) Whiten(x []float64)   { f.Multiply(x) }
func (f bidiagonal) Unwhiten(x []float64) { f.Solve(x) }
func (f bidiagonal) Unpull(x []float64)   { f.SolveTransposed(x) }

// triangular is the metric of any other matrix, D operations per entry.
type triangular struct{ r blas64.Triangular }

func (f triangular) Whiten(x []float64)   { blas64.Trmm(blas.Right, blas.Trans, 1, f.r, f.rows(x)) }
func (f triangular) Unwhiten(x []float64) { blas64.Trsm(blas.Right, blas.Trans, 1, f.r, f.rows(x)) }
func (f triangular) Unpull(x []float64)   { blas64.Trsm(blas.Right, blas.NoTrans, 1, f.r, f.rows(x)) }

func (f triangular) rows(x []float64) blas64.General {
	return blas64.General{Rows: len(x) / f.r.N, Cols: f.r.N, Stride: f.r.N, Data: x}
}

// frame is a sheet in whitened coordinates, in which its frame RQ is not orthonormal.
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

// newFrame prepares for sheets that are loaded into f.
func newFrame(f *sheet.Sheet, m metric) *frame {
	if _, plain := m.(euclidean); plain {
		return &frame{Sheet: f, metric: m, centre: f.C, axes: f.QT, inverse: f.QT}
	}
	vec := func(n int) []float64 { return make([]float64, n) }
	return &frame{
		Sheet: f, metric: m, centre: vec(f.D), axes: vec(f.M * f.D), inverse: vec(f.M * f.D),
		gram: vec(f.M * f.M), factor: vec(f.M * f.M), solved: vec(f.M * f.M),
	}
}

// reload follows a change of the sheet.
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
