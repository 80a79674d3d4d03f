package denoise

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/models/rows"
)

// measured is a method with settings that have the unit of the rows.
type measured interface {
	Method
	// inUnits returns the method for rows divided by a unit. It reports false
	// where that cannot be.
	inUnits(unit float64) (Method, bool)
}

func (m KDE) inUnits(unit float64) (Method, bool) {
	m.Width /= unit
	return m, true
}

func (m SCQM) inUnits(unit float64) (Method, bool) {
	if _, ok := m.Loss.(framework.Rescaler); !ok {
		return m, m.Loss == nil
	}
	m.Loss, _, _ = rows.Rescaled(m.Loss, unit)
	return m, true
}

func (m Select) inUnits(unit float64) (Method, bool) {
	of, ok := methodIn(m.Of, unit)
	m.Of = of
	return m, ok
}

// methodIn returns a method for rows divided by a unit.
func methodIn(m Method, unit float64) (Method, bool) {
	if l, ok := m.(measured); ok {
		return l.inUnits(unit)
	}
	return m, true
}

// intoUnits divides rows beyond 2^100 or below 2^-100 by a power of two, and the
// settings of a method with them, where the method can be rescaled.
func intoUnits(m Method, x rows.Data) (Method, rows.Data, float64, *memory.Reservation, error) {
	unit := 1.0
	if x.N > 0 && x.D > 0 && len(x.X) == x.N*x.D {
		unit = rows.WorkingUnit(x)
	}
	in, ok := methodIn(m, unit)
	if unit == 1 || !ok {
		return m, x, 1, nil, nil
	}
	held, err := reserveUnits(m, x)
	if err != nil {
		return nil, x, 1, nil, err
	}
	return in, x.InUnits(unit), unit, held, nil
}

// leaveUnits turns a result for rows divided by a unit into that for the rows x.
func (r *Result) leaveUnits(unit float64, x rows.Data) {
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Residual *= unit
		row.Noise *= unit
		out := r.X[i*x.D : (i+1)*x.D]
		if row.Unchanged || !row.Done {
			copy(out, x.Row(i))
			continue
		}
		for j := range out {
			out[j] *= unit
		}
	}
	r.ShareError *= unit
	r.ShareMoved *= unit
}
