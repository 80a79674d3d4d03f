package scqm

import "context"

// Learn fits a model to the data. Like framework.Solve, it returns the best
// model so far beside the error of a run that failed, and no error where the
// run was cancelled or out of budget: see Meta.Status. A time limit counts from
// the call of Learn.
//
// Data whose size is beyond 2^100 or below 2^-100 are refused. Rows that occur several times are
// fitted once, with their weights added up. An iteration costs one to a few
// evaluations, of 2nDm operations and the loss of n rows each, and for
// [solvers.Newton] nP^2 and P^3 more, P = D(1+m) + qs. Where no solver is named, 2^23
// numbers and more are fitted as by [LearnFrom] under losses that this suits.
func Learn(ctx context.Context, x Data, c Config) (*Fit, error) {
	x, c, err := c.admit(x)
	if err != nil {
		return nil, err
	}
	if sumsBlocks(c.Solver) || c.streams(x) {
		return learnAsStream(ctx, x, c)
	}
	return fitRows(ctx, x, c)
}
