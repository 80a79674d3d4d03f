package objective

import (
	"cmp"
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

// As a function of Tau alone the objective is a sum with a term for every row,
// which is evaluated row by row: see [nearest.RowEvaluation] for the cost.

// SeparableRows reports whether the objective is a sum of functions of the single rows of block k.
func (p *Objective) SeparableRows(k int) bool { return k == BlockTau }

// EvaluateRows writes the weighted losses of the listed rows and their gradients with respect to tau_i.
func (p *Objective) EvaluateRows(costs, grad []float64, x framework.Point, k int, rows []int) error {
	return p.EvaluateInto(nearest.RowResults{Costs: costs, Grad: grad}, x, k, rows)
}

// EvaluateInto is EvaluateRows for any results: costs, gradients, and d x d Hessians of the losses of rows with
// respect to tau_i.
func (p *Objective) EvaluateInto(to nearest.RowResults, x framework.Point, k int, list []int) error {
	if k != BlockTau {
		return fmt.Errorf("scqm: rows of block %d are not independent: %w", k, framework.ErrInvalid)
	}
	p.sheet.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	return p.evaluateRows(to, p.data, x[BlockTau], list)
}

// evaluateRows evaluates the listed rows of x, or all, at coordinates tau on the last loaded sheet.
func (p *Objective) evaluateRows(to nearest.RowResults, x rows.Data, tau []float64, list []int) error {
	e := nearest.RowEvaluation{Sheet: p.sheet, Loss: p.loss, Data: x, Tau: tau, Prior: p.Prior}
	n := x.N
	if list != nil {
		n = len(list)
	}
	errs := make([]error, par.Shards(n))
	par.Do(p.threads, len(errs), func(id, shard int) {
		lo, hi := par.Bounds(n, shard)
		errs[shard] = e.Run(p.ctx, p.Worker(id), to, list, lo, hi)
	})
	return cmp.Or(errs...)
}
