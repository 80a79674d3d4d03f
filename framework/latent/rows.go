package latent

import "github.com/scqm/scqm/framework"

// RowSeparable is a problem whose cost, as a function of one block with all
// others fixed, is a constant plus a sum of independent costs of the rows of
// that block. Each row can then have a step size of its own.
type RowSeparable interface {
	// SeparableRows reports whether block k is of this kind.
	SeparableRows(k int) bool
	// EvaluateRows writes costs[i] and, if grad is not nil, row i of the Euclidean gradient with respect to block k,
	// for every row i listed in rows; nil stands for all rows. It does not change other entries.
	EvaluateRows(costs, grad []float64, x framework.Point, k int, rows []int) error
}

// SeparableRows reports whether the rows of block k can be evaluated one by one.
func SeparableRows(e *framework.Evaluator, k int) bool {
	p, ok := framework.As[RowSeparable](e.Problem())
	return ok && p.SeparableRows(k)
}

// EvaluateRows evaluates single rows of a block for which SeparableRows holds; see [RowSeparable]. They count as a
// fraction of an evaluation.
func EvaluateRows(e *framework.Evaluator, costs, grad []float64, x framework.Point, k int, rows []int) error {
	p, _ := framework.As[RowSeparable](e.Problem())
	part := 1.0
	if rows != nil {
		part = float64(len(rows)) / float64(e.Blocks()[k].Rows())
	}
	return e.Charge(part, func() error {
		if grad != nil {
			e.Count(0, part)
		}
		return p.EvaluateRows(costs, grad, x, k, rows)
	})
}
