package mean

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/models/rows"
)

// units are rows of size about 1 with the corresponding loss. Rows beyond 2^100 or below 2^-100 are divided by a
// power of two if the loss can be rescaled.
type units struct {
	data         rows.Data
	loss         framework.Loss
	unit, factor float64
	held         *memory.Reservation
}

// unitsOf converts rows and loss to such units. The caller releases them.
func unitsOf(x rows.Data, loss framework.Loss) (*units, error) {
	u := &units{data: x, loss: loss, unit: 1, factor: 1}
	if loss == nil || x.Validate() != nil { // which the problem reports
		return u, nil
	}
	unit := rows.WorkingUnit(x)
	if unit != 1 { // in which rows near each other must still be told apart
		if err := x.ValidateSpread(); err != nil {
			return nil, err
		}
	}
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
