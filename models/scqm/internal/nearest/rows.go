package nearest

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// RowResults holds the slices into which a row evaluation writes; nil ones are not computed. They are indexed by row
// number: costs[i], d entries of grad, d*d of hess.
type RowResults struct{ Costs, Grad, Hess []float64 }

// RowEvaluation evaluates the loss of a row as a function of its tau, with the gradient J'g and the Hessian. A row
// takes 2Dm operations and a loss of D entries. Its Hessian takes dD more.
type RowEvaluation struct {
	Sheet *sheet.Sheet
	Loss  framework.Loss
	Data  rows.Data
	Tau   []float64
	// Prior is the prior of rows with missing entries.
	Prior Prior
}

// Run evaluates entries lo to hi of the list of row numbers. If the list is nil it evaluates rows lo to hi.
func (e *RowEvaluation) Run(ctx context.Context, w *Worker, to RowResults, rows []int, lo, hi int) error {
	for from := lo; from < hi; from += w.Batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(w.Batch, hi-from)
		number := func(i int) int { return from + i }
		if rows != nil {
			number = func(i int) int { return rows[from+i] }
		}
		if err := e.batch(w, to, n, number); err != nil {
			return fmt.Errorf("scqm: loss %s: %w", e.Loss.Name(), err)
		}
	}
	return nil
}

// batch evaluates n rows; number gives their row numbers.
func (e *RowEvaluation) batch(w *Worker, to RowResults, n int, number func(int) int) error {
	f := e.Sheet
	r := w.R[:n*f.D]
	for i := range n {
		z := w.Row(w.Z, f.M, i)
		f.Coordinates(z, w.Row(w.Phi, f.Q, i), e.latent(number(i)))
		f.Deviation(r[i*f.D:(i+1)*f.D], e.Data.Row(number(i)))
	}
	f.AddImages(r, w.Z, n)
	var values, g []float64
	if to.Costs != nil {
		values = w.Values[:n]
	}
	if to.Grad != nil || to.Hess != nil {
		g = w.G[:n*f.D]
	}
	if err := e.Loss.Evaluate(values, g, r, f.D); err != nil {
		return err
	}
	if to.Grad != nil {
		f.RowsToFrame(w.Pulled, g, n)
	}
	for i := range n {
		row := number(i)
		weight, prior := e.Data.Weight(row), e.Prior.Of(e.Data, row)
		if to.Costs != nil {
			to.Costs[row] = weight * values[i]
			if e.Data.Missing && rows.NoneObserved(r[i*f.D:(i+1)*f.D]) && !rows.NoneObserved(e.Data.Row(row)) {
				to.Costs[row] = math.NaN() // the sheet is not finite there
			}
			if prior != nil {
				to.Costs[row] += weight * prior.Value(e.latent(row))
			}
		}
		if to.Grad != nil {
			gi := to.Grad[row*f.Latent : (row+1)*f.Latent]
			f.TauGradient(gi, w.W, e.latent(row), w.Row(w.Pulled, f.M, i))
			prior.AddGradient(gi, e.latent(row), 1)
			dense.Scale(gi, weight)
		}
	}
	if to.Hess == nil {
		return nil
	}
	return w.Hess.write(e, w, to.Hess, r, g, n, number)
}

func (e *RowEvaluation) latent(row int) []float64 {
	return e.Tau[row*e.Sheet.Latent : (row+1)*e.Sheet.Latent]
}

// RowHessian holds the buffers to compute the Hessians of row costs with respect to tau,
//
//	H = E'Q' (hess loss)(r) Q E + sum_k (V'g)_k 2 A_k,
//
// with E the Jacobian of z. A row takes 2Dmd operations and d products with the Hessian of the
// loss.
type RowHessian struct {
	E       []float64 // m x d
	jr      []float64 // d: a column of H
	v       []float64 // batch x D: one column of the Jacobian per row
	columns []float64 // batch x m: the same in the frame
	// diagonal holds the second derivatives of a separable loss, batch x D.
	diagonal []float64
}

func NewRowHessian(f *sheet.Sheet) *RowHessian {
	return &RowHessian{E: make([]float64, f.M*f.Latent), jr: make([]float64, f.Latent)}
}

// write writes the Hessians of n rows of an evaluation, with residuals r and loss gradients g; number gives their
// row numbers.
func (h *RowHessian) write(e *RowEvaluation, w *Worker, hess, r, g []float64, n int, number func(int) int) error {
	f := e.Sheet
	d, dd := f.Latent, f.Latent*f.Latent
	h.v, h.columns = dense.Grow(h.v, n*f.D), dense.Grow(h.columns, n*f.M)
	separable, ok := e.Loss.(framework.Separable)
	if ok {
		h.diagonal = dense.Grow(h.diagonal, n*f.D)
		separable.Phi(nil, nil, h.diagonal, r)
	}
	for j := range d {
		clear(h.v)
		for i := range n {
			f.Jacobian(h.E, e.latent(number(i)))
			for k := range f.M {
				h.columns[i*f.M+k] = h.E[k*d+j]
			}
		}
		f.AddImages(h.v, h.columns, n)
		if ok {
			floats.Mul(h.v, h.diagonal)
		} else if err := rowloss.HessianOf(e.Loss).HessianProduct(h.v, r, h.v, f.D); err != nil {
			return err
		}
		f.RowsToFrame(h.columns, h.v, n)
		for i := range n {
			row := number(i)
			f.TauGradient(h.jr, w.W, e.latent(row), h.columns[i*f.M:(i+1)*f.M])
			for a, va := range h.jr {
				hess[(row*d+a)*d+j] = va
			}
		}
	}
	f.RowsToFrame(w.Pulled, g, n)
	for i := range n {
		row := number(i)
		to := hess[row*dd : (row+1)*dd]
		f.WeighForms(w.W, w.Row(w.Pulled, f.M, i)[f.Latent:])
		f.AddCurvature(to, w.W)
		e.Prior.Of(e.Data, row).AddHessian(to, 1)
		dense.Scale(to, e.Data.Weight(row))
	}
	return nil
}

// Worker holds the buffers of one goroutine for a batch of rows: residuals, their gradients, z and phi. The two
// buffers of length D fit a second-level cache.
type Worker struct {
	Batch  int
	R, G   []float64 // batch x D
	Z, Phi []float64 // batch x m, batch x q
	Pulled []float64 // batch x m: Q' times the rows of r or g
	Values []float64 // batch
	W      []float64 // q
	Ends   []float64 // memory for the certificates of package objective, 2 batch x D + batch
	Hess   *RowHessian
}

func NewWorker(f *sheet.Sheet, n int) *Worker {
	batch := BatchRows(f, n)
	return &Worker{
		Batch: batch,
		R:     make([]float64, batch*f.D), G: make([]float64, batch*f.D),
		Z: make([]float64, batch*f.M), Phi: make([]float64, batch*f.Q), Pulled: make([]float64, batch*f.M),
		Values: make([]float64, batch),
		W:      make([]float64, f.Q), Hess: NewRowHessian(f),
	}
}

// BatchRows returns the number of rows of a batch, given n rows in total.
func BatchRows(f *sheet.Sheet, n int) int { return min(max(BatchEntries/f.D/4, 1)*4, n) }

// Row returns row i of a buffer with rows of length n.
func (*Worker) Row(buf []float64, n, i int) []float64 { return buf[i*n : (i+1)*n] }

// BatchEntries is the number of residual entries in a batch: two such arrays fit a second-level cache of 1 MiB.
const BatchEntries = 1 << 15
