package mean

import (
	"context"
	"fmt"
	"time"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/rows"
)

// byColumn reports whether the mean can be computed for each column separately, so that columns may have different
// units: if the loss is a sum over entries.
func byColumn(x rows.Data, c Config) bool {
	return x.D > 1 && rowloss.StructureOf(c.Loss) == rowloss.StructureSeparable && c.Options.Checkpoint == nil
}

// ofColumns computes the mean of every column, and a run that summarises the runs of the columns, without a history.
func ofColumns(ctx context.Context, x rows.Data, c Config) (*Mean, error) {
	whole, err := NewProblem(ctx, x, c.Loss, c.Threads)
	if err != nil {
		return nil, err
	}
	m := &Mean{C: medians(x), Loss: c.Loss, Run: &framework.Result{Status: framework.Converged, Stationarity: []float64{0}}}
	column, limit := rows.Data{N: x.N, D: 1, X: make([]float64, x.N), Weights: x.Weights}, c.Options.TimeLimit
	var failure error
	for k := 0; k < x.D && failure == nil; k++ {
		if limit > 0 {
			c.Options.TimeLimit = max(limit-m.Run.Elapsed, time.Nanosecond)
		}
		for i := range column.X {
			column.X[i] = x.Row(i)[k]
		}
		one, err := ofAll(ctx, column, c)
		if one == nil {
			return nil, fmt.Errorf("column %d: %w", k, err)
		}
		m.C[k] = one.C[0]
		join(m.Run, one.Run, k)
		failure = err
	}
	m.Run.Point = framework.Point{m.C}
	m.Run.Counts.Evaluations = (m.Run.Counts.Evaluations + x.D - 1) / x.D
	m.Run.Counts.Passes /= float64(x.D)
	m.Objective = m.Run.Cost
	if failure != nil || m.Run.Status == framework.Cancelled {
		return m, failure
	}
	m.Objective, err = whole.Evaluate(nil, m.Run.Point)
	m.Run.Cost = m.Objective
	return m, err
}

// join adds the run of column k: costs and work add up, the largest stationarity counts, and the first status other
// than converged.
func join(all, one *framework.Result, k int) {
	all.Cost += one.Cost
	all.Iterations = max(all.Iterations, one.Iterations)
	all.Counts.Evaluations += one.Counts.Evaluations
	all.Counts.Passes += one.Counts.Passes
	all.Elapsed += one.Elapsed
	if all.Status == framework.Converged && one.Status != framework.Converged {
		all.Status, all.Message = one.Status, fmt.Sprintf("column %d: %s", k+1, one.Message)
	}
	switch {
	case one.Stationarity == nil:
		all.Stationarity = nil
	case all.Stationarity != nil && (k == 0 || one.Stationarity[0] > all.Stationarity[0]):
		all.Stationarity[0] = one.Stationarity[0]
		if all.Status == framework.Converged {
			all.Message = one.Message
		}
	}
}
