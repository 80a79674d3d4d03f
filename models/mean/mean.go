package mean

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
)

// Of computes the mean of rows with their weights, starting from the median of
// each column. Like framework.Solve, it returns the best mean so far beside the
// error of a run that failed, and no error where the run was cancelled or out of
// budget: see Run.Status. A loss that is a sum over entries has a mean of every
// column apart, which may then be in units as unlike as one likes; limits but
// that of time hold for each, Run has no history, and only a run with a checkpoint
// takes all columns together. Where the loss is not convex the mean is a minimum,
// if not the lowest. Rows whose size is beyond 2^100 or below 2^-100 are averaged in
// other units where the loss is a [rowloss.Rescaler]; where the sum of losses is
// not a number that float64 holds, the error says so at once.
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

// of computes the mean in units, whose objective is checked before.
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
