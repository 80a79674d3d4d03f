package scqm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

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

// chooseRidge replaces [AutoRidge] by the value of ridgeGrid with the least mean
// loss of rows that were held out, in two folds of distinct rows in random order;
// the smallest of equals.
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
	order := shuffled(r.data, c.Seed)
	tried := make([]string, 0, len(ridgeGrid))
	least := math.Inf(1)
	for _, ridge := range ridgeGrid {
		loss, err := r.heldOutLoss(ctx, order, ridge)
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
	r.notes = append(r.notes, fmt.Sprintf("the ridge is %g by the mean loss of rows held out: %s", c.Ridge, strings.Join(tried, ", ")))
	return nil
}

// shuffled returns the numbers of the rows in random order, which does not depend
// on the one they came in.
func shuffled(x Data, seed uint64) []int {
	order := make([]int, x.N)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return slices.Compare(x.Row(i), x.Row(j)) })
	rand.New(rand.NewPCG(seed, 0x726f7773)).Shuffle(x.N, func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

// errOutOfTime says that the time limit of a fit has passed before it.
var errOutOfTime = errors.New("scqm: out of time")

// heldOutLoss returns the mean loss of rows from models that were fitted without
// them.
func (r *request) heldOutLoss(ctx context.Context, order []int, ridge float64) (float64, error) {
	c := *r.config
	c.Ridge, c.Curvature, c.Solver, c.Inits = ridge, r.columns.fitted, nil, 1
	c.Options = framework.Options{
		MaxIterations: ridgeIterations, MinRelativeDecrease: suggestLimits.MinRelativeDecrease,
		TimeLimit: c.Options.TimeLimit, Begin: c.Options.Begin,
	}
	var sum, total float64
	for k := range ridgeFolds {
		var held, rest []int
		for j, i := range order {
			if j%ridgeFolds == k {
				held = append(held, i)
			} else {
				rest = append(rest, i)
			}
		}
		fit, err := Learn(ctx, r.data.Select(rest), c)
		if fault := (*objective.LossError)(nil); errors.As(err, &fault) {
			fault.Row = rest[fault.Row]
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
		test := r.data.Select(held)
		values, err := fit.Model.losses(ctx, test, c.Threads)
		if err != nil {
			return 0, err
		}
		for j, v := range values {
			sum += test.Weight(j) * v
		}
		total += test.TotalWeight()
	}
	return sum / total, nil
}

// losses returns the losses of rows against their projections.
func (m *Model) losses(ctx context.Context, x Data, threads int) ([]float64, error) {
	r, err := m.Project(ctx, x, threads)
	if err != nil {
		return nil, err
	}
	floats.Sub(r, x.X)
	values := make([]float64, x.N)
	return values, m.Losses(values, r)
}
