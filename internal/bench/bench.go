// Package bench compares the solvers on the same fits: objective, work and time.
// A [Regime] is a set of test problems of one kind. [Regime.Problems] makes them,
// [Problem.Compare] runs every solver on one. Nothing is printed here.
package bench

import (
	"context"
	"time"

	"github.com/scqm/scqm/models/scqm"
)

// Latent is the number of latent dimensions of all fits.
const Latent = 2

// Options are the settings of a comparison: its fits, its solvers and its time limit.
type Options struct {
	// Losses are the names of the losses to compare on, with default parameters; none means
	// the losses of each regime.
	Losses []string
	// Solvers are the names of the solvers to compare with the reference; none means all.
	Solvers []string
	// Rows are the numbers of rows of the test data near a sheet, each at least MinRows.
	Rows []int
	// TimeLimit bounds each fit.
	TimeLimit time.Duration
	// Threads bounds the goroutines; 0 stands for all processors.
	Threads int
	// Digits returns the rows of digit images. Only a regime of digits calls it.
	Digits func() (scqm.Data, error)
	// Learn fits a model; nil means [scqm.Learn].
	Learn func(ctx context.Context, x scqm.Data, c scqm.Config) (*scqm.Fit, error)
}

func (o Options) learn(ctx context.Context, x scqm.Data, c scqm.Config) (*scqm.Fit, error) {
	if o.Learn == nil {
		return scqm.Learn(ctx, x, c)
	}
	return o.Learn(ctx, x, c)
}
