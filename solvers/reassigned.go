package solvers

import (
	"github.com/scqm/scqm/framework"

	"github.com/scqm/scqm/framework/latent"
)

// reassigned returns x with rows relocated to nearer points and the cost there, where that justifies more
// iterations; else nil.
func reassigned(e *framework.Evaluator, x framework.Point, cost float64) (framework.Point, float64, error) {
	x = x.Clone()
	if moved, err := latent.Reassign(e, x); !moved || err != nil {
		return nil, 0, err
	}
	lower, err := e.Evaluate(nil, x)
	if err != nil || !latent.WorthReassigning(cost, lower) {
		return nil, 0, err
	}
	return x, lower, nil
}
