package mean

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
)

// Distances returns the distances of rows from the mean.
func (m *Mean) Distances(x rows.Data) []float64 {
	d := make([]float64, x.N)
	for i := range d {
		d[i] = floats.Distance(m.C, x.Row(i), 2)
	}
	return d
}

// DefaultLoss returns the named loss for rows. [losses.DefaultDelta] chooses its delta from their distances from the
// geometric median.
func DefaultLoss(ctx context.Context, name string, x rows.Data, threads int) (framework.Loss, error) {
	m, err := Of(ctx, x, Config{Loss: losses.L2(), Threads: threads})
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return losses.ByName(name, losses.Params{Delta: new(losses.DefaultDelta(name, m.Distances(x)))})
}
