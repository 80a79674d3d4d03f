package nearest

import (
	"context"
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// RowResults are the destinations of a row evaluation; nil ones are not
// computed. Entries are by row number: costs[i], d entries of grad, d*d of hess.
type RowResults struct{ Costs, Grad, Hess []float64 }

// RowEvaluation evaluates losses of rows as functions of their tau, with gradient
// J'g and Hessian: 2Dm operations and a loss of D entries for a row, and dD more
// for its Hessian.
type RowEvaluation struct {
	Sheet *sheet.Sheet
	Loss  framework.Loss
	Data  rows.Data
	Tau   []float64
	// Prior is that of rows with missing entries.
	Prior Prior
}

// Run evaluates entries lo to hi of the list of rows (nil: of all rows).
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
	return e.hessians(w, to.Hess, r, g, n, number)
}

func (e *RowEvaluation) hessians(w *Worker, hess, r, g []float64, n int, number func(int) int) error {
	dd := e.Sheet.Latent * e.Sheet.Latent
	list := make([][]float64, n)
	for i := range list {
		list[i] = hess[number(i)*dd : (number(i)+1)*dd]
	}
	tau := func(i int) []float64 { return e.latent(number(i)) }
	if err := w.Hess.batch(e.Sheet, w, e.Loss, list, r, g, tau); err != nil {
		return err
	}
	for i, h := range list {
		e.Prior.Of(e.Data, number(i)).AddHessian(h, 1)
		dense.Scale(h, e.Data.Weight(number(i)))
	}
	return nil
}

func (e *RowEvaluation) latent(row int) []float64 {
	return e.Tau[row*e.Sheet.Latent : (row+1)*e.Sheet.Latent]
}
