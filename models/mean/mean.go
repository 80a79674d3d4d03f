package mean

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
)

// Of computes the mean of weighted rows, starting from the median of each column. Like framework.Solve, it returns
// the best mean so far together with the error of a failed run. A run that was cancelled or out of budget gives no
// error: see Run.Status. For a loss that is a sum over entries, each column is computed separately and may have its
// own unit. Limits other than the time limit then apply to each column, and Run has no history; only a run with a
// checkpoint takes all columns together. If the loss is not convex the mean is a local minimum. Rows whose size is
// beyond 2^100 or below 2^-100 are averaged in other units if the loss is a [rowloss.Rescaler]. If the sum of losses
// overflows a float64, it returns an error at once.
func Of(ctx context.Context, x rows.Data, c Config) (*Mean, error) {
	held, err := reserveMean(x, c.Threads)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	x.Missing = false // entries that are missing are refused
	if x.Validate() == nil {
		if c.Loss, err = losses.Rounded(c.Loss, x.D, rows.MaxNorm(x.X)); err != nil {
			return nil, fmt.Errorf("mean: %w", err)
		}
	}
	in, err := unitsOf(x, c.Loss)
	if err != nil {
		return nil, err
	}
	defer in.release()
	return in.of(ctx, c)
}

// of computes the mean of the rows as they are.
func of(ctx context.Context, x rows.Data, c Config) (*Mean, error) {
	if byColumn(x, c) {
		return ofColumns(ctx, x, c)
	}
	return ofAll(ctx, x, c)
}

// of computes the mean in given units, after a check of the objective.
func (u *units) of(ctx context.Context, c Config) (*Mean, error) {
	if u.unit == 1 {
		return of(ctx, u.data, c)
	}
	if err := rows.CheckSums(u.data, u.loss, u.unit, u.factor); err != nil {
		return nil, err
	}
	loss := c.Loss
	c.Loss = u.loss
	m, err := of(ctx, u.data, c)
	if m == nil {
		return nil, err
	}
	m.Loss = loss
	floats.Scale(u.unit, m.C) // which is the point of the run
	m.Objective = rows.Product(m.Objective, u.factor)
	m.Run.Cost = rows.Product(m.Run.Cost, u.factor)
	for i := range m.Run.History {
		m.Run.History[i].Cost = rows.Product(m.Run.History[i].Cost, u.factor)
	}
	return m, err
}
