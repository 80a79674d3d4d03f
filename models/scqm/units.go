package scqm

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// ownUnit returns the power of two in whose unit the model has size about 1, or 1 where it is near that
// already. It is a function of the model, so that the result for a row does not depend on other rows.
func (m *Model) ownUnit() float64 {
	if size := floats.Norm(m.Tau, math.Inf(1)); size > 0 {
		return rows.UnitOf(size)
	}
	if size := floats.Norm(m.Theta, math.Inf(1)); size > 0 {
		return rows.UnitOf(1 / size)
	}
	return rows.UnitOf(floats.Norm(m.C, math.Inf(1)))
}

// sheetIn returns the sheet in a unit.
func (m *Model) sheetIn(unit float64) *sheet.Sheet {
	f := m.sheet()
	scaleSheet(f, unit)
	return f
}

func scaleSheet(f *sheet.Sheet, unit float64) {
	if unit == 1 {
		return
	}
	floats.Scale(1/unit, f.C)
	floats.Scale(unit, f.Theta)
}

// view is a model with rows, both in the unit of the model.
type view struct {
	unit    float64
	sheet   *sheet.Sheet
	loss    framework.Loss
	missing nearest.Missing // in unit 1
	rows    Data
	held    *memory.Reservation
}

// view converts rows to the unit of the model, where its loss allows that; a model that ignores missing entries
// has the unit 1, as its prior is in that. The caller releases the view.
func (m *Model) view(x Data) (*view, error) {
	own, missing, err := m.rowLosses()
	if err != nil {
		return nil, err
	}
	v := &view{unit: m.ownUnit(), loss: own, missing: missing, rows: x}
	if loss, _, ok := rows.Rescaled(own, v.unit); ok && v.unit != 1 && m.Meta.Missing == nil {
		held, err := reserveUnits(x)
		if err != nil {
			return nil, err
		}
		v.held, v.loss, v.rows = held, loss, x.InUnits(v.unit)
	} else {
		v.unit = 1
	}
	v.sheet = m.sheetIn(v.unit)
	return v, nil
}

func (v *view) release() {
	if v.held != nil {
		v.held.Release()
	}
}

// leave converts lengths from the unit of the model to that of the data.
func (v *view) leave(lengths []float64) {
	if v.unit != 1 {
		floats.Scale(v.unit, lengths)
	}
}

// secondDerivative converts a second derivative of the loss to that of the model's own loss.
func (v *view) secondDerivative(second float64, own framework.Loss) float64 {
	if v.unit == 1 {
		return second
	}
	// Of the fourth root of the unit, as the factor itself may be no number.
	root := math.Pow(v.unit, 0.25)
	_, factor, _ := rows.Rescaled(own, root)
	by := factor / root / root
	return rows.Product(second, by, by, by, by)
}
