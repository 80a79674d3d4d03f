package mean

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/models/rows"
)

// units are rows that are about 1 in size, with the loss there: divided by a power
// of two where they were beyond 2^100 or below 2^-100 and the loss can be rescaled.
type units struct {
	data         rows.Data
	loss         framework.Loss
	unit, factor float64
	held         *memory.Reservation
}

// unitsOf brings rows and loss into such units. The caller releases them.
func unitsOf(x rows.Data, loss framework.Loss) (*units, error) {
	u := &units{data: x, loss: loss, unit: 1, factor: 1}
	if loss == nil || x.Validate() != nil { // which the problem reports
		return u, nil
	}
	unit := rows.WorkingUnit(x)
	rescaled, factor, ok := rows.Rescaled(loss, unit)
	if unit == 1 || !ok {
		return u, nil
	}
	held, err := reserveUnits(x)
	if err != nil {
		return nil, err
	}
	return &units{data: x.InUnits(unit), loss: rescaled, unit: unit, factor: factor, held: held}, nil
}

func (u *units) release() {
	if u.held != nil {
		u.held.Release()
	}
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
