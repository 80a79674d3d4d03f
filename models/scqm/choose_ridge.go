package scqm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// ridgeGrid are the values that [AutoRidge] chooses from.
var ridgeGrid = []float64{1e-3, 1e-2, 0.1, 1, 10}

const (
	// ridgeFolds is the number of parts of the rows, each of which is held out
	// once.
	ridgeFolds = 2
	// ridgeRows is the number of distinct rows below which none are held out.
	ridgeRows = 10
	// ridgeIterations bounds the fits that are compared only.
	ridgeIterations = 100
)

// chooseRidge replaces [AutoRidge] by the value of ridgeGrid with the least error at
// hidden entries of rows that were held out, in two folds of distinct rows in random order;
// the smallest of equals. No row with the last entry of a column is held out.
func (r *request) chooseRidge(ctx context.Context) error {
	if r.config.Ridge != AutoRidge || r.config.Linear || r.columns.fitted == 0 {
		return nil
	}
	c := *r.config
	r.config = &c
	c.Ridge = DefaultRidge
	if r.data.N < ridgeRows {
		r.notes = append(r.notes, fmt.Sprintf("the ridge is %g, as %d distinct rows are too few to choose it by rows held out", c.Ridge, r.data.N))
		return nil
	}
	if err := r.reserve(reserveUnits(r.data)); err != nil {
		return err
	}
	folds := splits(r.data, shuffled(r.data, c.Seed), ridgeFolds)
	if held := len(folds[0].held) + len(folds[1].held); held < ridgeRows {
		r.notes = append(r.notes, fmt.Sprintf("the ridge is %g, as only %d rows can be held out without the last entry of a column, too few to choose it", c.Ridge, held))
		return nil
	}
	tried := make([]string, 0, len(ridgeGrid))
	least := math.Inf(1)
	for _, ridge := range ridgeGrid {
		loss, err := r.heldOutError(ctx, folds, ridge)
		if errors.Is(err, errOutOfTime) {
			r.notes = append(r.notes, fmt.Sprintf("the time limit left no time to try ridges from %g on", ridge))
			break
		}
		if err != nil {
			return err
		}
		if loss < least {
			least, c.Ridge = loss, ridge
		}
		tried = append(tried, fmt.Sprintf("%.4g with %g", loss, ridge))
	}
	r.notes = append(r.notes, fmt.Sprintf("the ridge is %g by the error at hidden entries of rows held out: %s", c.Ridge, strings.Join(tried, ", ")))
	return nil
}

// keepRidge leaves the ridge as it is.
func keepRidge(*request, context.Context) error { return nil }

// heldOutError returns the root mean squared error of hidden entries of rows from models that were fitted
// without the rows.
func (r *request) heldOutError(ctx context.Context, folds []split, ridge float64) (float64, error) {
	c := *r.config
	c.Ridge, c.Curvature, c.Solver, c.Inits = ridge, r.columns.fitted, nil, 1
	c.Options = framework.Options{
		MaxIterations: ridgeIterations, MinRelativeDecrease: comparedLimits.MinRelativeDecrease,
		TimeLimit: c.Options.TimeLimit, Begin: c.Options.Begin,
	}
	var sum, total float64
	for _, f := range folds {
		fit, err := learnChoosing(ctx, r.data.Select(f.learned), c, keepRidge)
		if fault := (*objective.LossError)(nil); errors.As(err, &fault) {
			fault.Row = f.learned[fault.Row]
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return 0, err
		}
		if fit.Run.Status == framework.TimeLimit {
			return 0, errOutOfTime
		}
		test := r.data.Select(f.held)
		far, err := fit.Model.heldOutError(ctx, test, c.Seed, c.Threads)
		if err != nil {
			return 0, err
		}
		sum += far * test.TotalWeight()
		total += test.TotalWeight()
	}
	return math.Sqrt(sum / total / float64(r.data.D)), nil
}
