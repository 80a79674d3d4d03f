package scqm

import (
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/par"
)

// SeparableRows reports that each row of Tau has a cost of its own.
func (p *objective) SeparableRows(k int) bool { return k == BlockTau }

// EvaluateRows writes the weighted losses of the rows listed and their
// gradients with respect to tau_i.
func (p *objective) EvaluateRows(costs, grad []float64, x framework.Point, k int, rows []int) error {
	return p.evaluateRows(rowResults{costs: costs, grad: grad}, x, k, rows)
}

// RowHessians writes the d x d Hessians of the losses of the rows listed with
// respect to tau_i.
func (p *objective) RowHessians(hess []float64, x framework.Point, k int, rows []int) error {
	return p.evaluateRows(rowResults{hess: hess}, x, k, rows)
}

func (p *objective) evaluateRows(to rowResults, x framework.Point, k int, rows []int) error {
	if k != BlockTau {
		return fmt.Errorf("scqm: rows of block %d are not independent: %w", k, framework.ErrInvalid)
	}
	p.sheet.load(x[BlockC], x[BlockQ], x[BlockTheta])
	e := rowEvaluation{sheet: p.sheet, loss: p.loss, data: p.data, tau: x[BlockTau]}
	n := p.data.N
	if rows != nil {
		n = len(rows)
	}
	errs := make([]error, par.Shards(n))
	par.Do(p.threads, len(errs), func(id, shard int) {
		lo, hi := par.Bounds(n, shard)
		errs[shard] = e.run(p.ctx, p.worker(id), to, rows, lo, hi)
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
