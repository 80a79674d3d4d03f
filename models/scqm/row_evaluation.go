package scqm

import (
	"context"
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
)

// rowResults are the destinations of a row evaluation; nil ones are not
// computed. Entries are by row number: costs[i], d entries of grad, d*d of hess.
type rowResults struct{ costs, grad, hess []float64 }

// rowEvaluation evaluates rows of data at their latent coordinates one by one.
type rowEvaluation struct {
	sheet *sheet
	loss  framework.Loss
	data  Data
	tau   []float64
}

// run evaluates entries lo to hi of the list of rows (nil: of all rows).
func (e *rowEvaluation) run(ctx context.Context, w *worker, to rowResults, rows []int, lo, hi int) error {
	for from := lo; from < hi; from += w.batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(w.batch, hi-from)
		number := func(i int) int { return from + i }
		if rows != nil {
			number = func(i int) int { return rows[from+i] }
		}
		if err := e.batch(w, to, n, number); err != nil {
			return fmt.Errorf("scqm: loss %s: %w", e.loss.Name(), err)
		}
	}
	return nil
}

// batch evaluates n rows; number gives their row numbers.
func (e *rowEvaluation) batch(w *worker, to rowResults, n int, number func(int) int) error {
	f := e.sheet
	r := w.r[:n*f.D]
	for i := range n {
		z := w.row(w.z, f.m, i)
		f.coordinates(z, w.row(w.phi, f.q, i), e.latent(number(i)))
		f.residual(r[i*f.D:(i+1)*f.D], z, e.data.Row(number(i)))
	}
	var values, g []float64
	if to.costs != nil {
		values = w.values[:n]
	}
	if to.grad != nil || to.hess != nil {
		g = w.g[:n*f.D]
	}
	if err := e.loss.Evaluate(values, g, r, f.D); err != nil {
		return err
	}
	for i := range n {
		row := number(i)
		weight := e.data.Weight(row)
		if to.costs != nil {
			to.costs[row] = weight * values[i]
		}
		if to.grad != nil {
			f.pull(w.b, g[i*f.D:(i+1)*f.D])
			gi := to.grad[row*f.d : (row+1)*f.d]
			f.tauGradient(gi, w.w, e.latent(row), w.b)
			dense.Scale(gi, weight)
		}
	}
	if to.hess == nil {
		return nil
	}
	return e.hessians(w, to.hess, r, g, n, number)
}

func (e *rowEvaluation) hessians(w *worker, hess, r, g []float64, n int, number func(int) int) error {
	dd := e.sheet.d * e.sheet.d
	list := make([][]float64, n)
	for i := range list {
		list[i] = hess[number(i)*dd : (number(i)+1)*dd]
	}
	tau := func(i int) []float64 { return e.latent(number(i)) }
	if err := w.hess.batch(e.sheet, w, e.loss, list, r, g, tau); err != nil {
		return err
	}
	for i, h := range list {
		dense.Scale(h, e.data.Weight(number(i)))
	}
	return nil
}

func (e *rowEvaluation) latent(row int) []float64 {
	return e.tau[row*e.sheet.d : (row+1)*e.sheet.d]
}
