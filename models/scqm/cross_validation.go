package scqm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// ridgeGrid lists the values that [AutoRidge] chooses from.
var ridgeGrid = []float64{1e-3, 1e-2, 0.1, 1, 10}

const (
	// ridgeFolds is the number of folds of the rows, each held out once.
	ridgeFolds = 2
	// ridgeRows is the number of distinct rows below which no rows are held out.
	ridgeRows = 10
	// ridgeIterations limits the iterations of the short fits of the cross-validation. ridgeGain is the relative
	// decrease of the objective below which these fits end.
	ridgeIterations = 100
	ridgeGain       = 1e-5
	// ridgeMargin is the least relative decrease of the error for which a larger ridge is chosen.
	ridgeMargin = 0.005
)

// errOutOfTime reports that a fit ended because its time limit was reached.
var errOutOfTime = errors.New("scqm: out of time")

// chooseRidge replaces [AutoRidge] by the value of ridgeGrid with the least cross-validation error, measured at
// hidden entries of held-out rows in two random folds of distinct rows. A larger ridge must lower the error by half a
// percent. A row that has the only non-missing entry of a column is never held out.
func (r *request) chooseRidge(ctx context.Context, learn learner) error {
	if r.config.Ridge != AutoRidge || r.config.Linear || r.columns == 0 {
		return nil
	}
	c := *r.config
	r.config = &c
	c.Ridge = DefaultRidge
	if r.data.N < ridgeRows {
		r.notes = append(r.notes, fmt.Sprintf("the ridge is %g, as %d distinct rows are too few to choose it by rows held out", c.Ridge, r.data.N))
		return nil
	}
	if err := r.reserve(reserve("the folds of the rows", r.data, float64(len(r.data.X)))); err != nil {
		return err
	}
	parts := folds(r.data, rows.Shuffled(r.data, c.Seed), ridgeFolds)
	if held := len(parts[0].held) + len(parts[1].held); held < ridgeRows {
		r.notes = append(r.notes, fmt.Sprintf("the ridge is %g, as only %d rows can be held out without the last entry of a column, too few to choose it", c.Ridge, held))
		return nil
	}
	tried := make([]string, 0, len(ridgeGrid))
	least := math.Inf(1)
	for _, ridge := range ridgeGrid {
		loss, err := r.heldOutError(ctx, parts, ridge, learn)
		if errors.Is(err, errOutOfTime) {
			r.notes = append(r.notes, fmt.Sprintf("the time limit left no time to try ridges from %g on", ridge))
			break
		}
		if err != nil {
			return err
		}
		if math.IsInf(least, 1) || loss < (1-ridgeMargin)*least {
			least, c.Ridge = loss, ridge
		}
		tried = append(tried, fmt.Sprintf("%.4g with %g", loss, ridge))
	}
	r.notes = append(r.notes, fmt.Sprintf("the ridge is %g by the error at hidden entries of rows held out: %s", c.Ridge, strings.Join(tried, ", ")))
	return nil
}

// heldOutError returns the root mean squared error at hidden entries of held-out rows.
func (r *request) heldOutError(ctx context.Context, parts []fold, ridge float64, learn learner) (float64, error) {
	c := *r.config
	c.Ridge, c.Curvature = ridge, r.columns
	e, err := crossValidate(ctx, r.data, parts, c, learn)
	return math.Sqrt(e / float64(r.data.D)), err
}

// crossValidate returns the mean squared error at hidden entries of the held-out rows of each part. For each part it
// makes a short fit to the training rows.
func crossValidate(ctx context.Context, x Data, parts []fold, c Config, learn learner) (float64, error) {
	c.Solver, c.Inits, c.Options = nil, 1, shortFit(c.Options)
	var sum, total float64
	for _, f := range parts {
		fit, err := learn(ctx, x.Select(f.learned), c)
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
		test := x.Select(f.held)
		far, err := fit.Model.heldOutError(ctx, test, c.Seed, c.Threads)
		if err != nil {
			return 0, err
		}
		sum += far * test.TotalWeight()
		total += test.TotalWeight()
	}
	return sum / total, nil
}

// shortFit returns the options of a fit that need not end at a minimum, with the time limit of o.
func shortFit(o framework.Options) framework.Options {
	return framework.Options{
		MaxIterations: ridgeIterations, MinRelativeDecrease: ridgeGain, TimeLimit: o.TimeLimit, Begin: o.Begin,
	}
}

// fold lists the rows that are held out and the rows that a fit learns from.
type fold struct{ held, learned []int }

// folds assigns the listed rows to count folds, each held out once. If all non-missing entries of a column are in one
// fold, the first row that has one is never held out, as a fit needs an entry in every column.
func folds(x Data, order []int, count int) []fold {
	kept := make([]bool, x.N)
	for j := 0; j < x.D && x.Missing; j++ {
		if i, alone := onlyFold(x, j, order, count); alone {
			kept[i] = true
		}
	}
	list := make([]fold, count)
	for at, i := range order {
		for k := range list {
			if f := &list[k]; at%count == k && !kept[i] {
				f.held = append(f.held, i)
			} else {
				f.learned = append(f.learned, i)
			}
		}
	}
	return list
}

// onlyFold reports whether the entries of column j are all in rows of one fold, and returns the first such row.
func onlyFold(x Data, j int, order []int, count int) (row int, alone bool) {
	first := -1
	for at, i := range order {
		switch v := x.Row(i)[j]; {
		case v != v:
		case first < 0:
			first = at
		case at%count != first%count:
			return order[first], false
		}
	}
	if first < 0 {
		return 0, false
	}
	return order[first], true
}
