package scqm

import (
	"context"

	"github.com/scqm/scqm/framework"
)

// Learn fits a model to the data. Like framework.Solve, it returns the best model so far together with the error of a
// failed run. A run that was cancelled or out of budget gives no error: see Meta.Status. A time limit counts from the
// call of Learn.
//
// Data with entries beyond 2^100 or all below 2^-100 are rejected. Equal rows are merged, and their weights added. An
// iteration costs one to a few evaluations of 2nDm operations and n losses each. [solvers.Newton] takes nP^2 and P^3
// more, with P = D(1+m) + qs.
func Learn(ctx context.Context, x Data, c Config) (*Fit, error) {
	x, c, err := c.admit(x)
	if err != nil {
		return nil, err
	}
	if sumsBlocks(c.Solver) {
		return learnAsStream(ctx, x, c)
	}
	fit, err := fitRows(ctx, x, c)
	fit.explain(ctx, x)
	if fit != nil && ctx.Err() != nil && fit.Run.Status != framework.Cancelled {
		fit.cancel("cancelled before the result was reported; the best point is kept")
	}
	return fit, err
}
