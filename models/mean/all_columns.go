package mean

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/solvers"
)

// ofAll computes the mean of all columns together.
func ofAll(ctx context.Context, x rows.Data, c Config) (*Mean, error) {
	p, err := NewProblem(ctx, x, c.Loss, c.Threads)
	if err != nil {
		return nil, err
	}
	return p.solve(ctx, framework.Point{medians(x)}, c)
}

// solve minimises from a start.
func (p *Problem) solve(ctx context.Context, start framework.Point, c Config) (*Mean, error) {
	if c.Solver == nil {
		c.Solver = solvers.Continuation{Inner: solvers.LBFGS{}}
	}
	if c.Options.Tolerance == 0 {
		c.Options.Tolerance = DefaultTolerance
	}
	run, err := framework.Solve(ctx, p, start, c.Solver, c.Options)
	if run == nil {
		return nil, fmt.Errorf("mean: %w", err)
	}
	m := &Mean{C: run.Point[0], Loss: p.plain, Objective: run.Cost, Run: run}
	if err != nil {
		return m, fmt.Errorf("mean: %w", err)
	}
	return m, nil
}

// medians returns a weighted median of every column.
func medians(x rows.Data) []float64 {
	c, column := make([]float64, x.D), make([]float64, x.N)
	for k := range c {
		for i := range column {
			column[i] = x.Row(i)[k]
		}
		weights := slices.Clone(x.Weights)
		stat.SortWeighted(column, weights)
		c[k] = stat.Quantile(0.5, stat.Empirical, column, weights)
	}
	return c
}
