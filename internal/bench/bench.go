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

// Options say what is compared and how long it may take.
type Options struct {
	// Losses are those to compare on, by name, with default parameters; none stands
	// for those of each regime.
	Losses []string
	// Solvers are those to compare with the reference, by name; none stands for all.
	Solvers []string
	// Rows are the numbers of rows near a sheet, at least MinRows.
	Rows []int
	// TimeLimit bounds each fit.
	TimeLimit time.Duration
	// Threads bounds the goroutines; 0 stands for all processors.
	Threads int
	// Digits returns the rows of a regime of digits; it is called for that only.
	Digits func() (scqm.Data, error)
	// Learn fits a model as [scqm.Learn] does, which nil stands for.
	Learn func(ctx context.Context, x scqm.Data, c scqm.Config) (*scqm.Fit, error)
}

func (o Options) learn(ctx context.Context, x scqm.Data, c scqm.Config) (*scqm.Fit, error) {
	if o.Learn == nil {
		return scqm.Learn(ctx, x, c)
	}
	return o.Learn(ctx, x, c)
}
