package scqm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
)

// leaveUnits turns a fit to data in a unit, with the loss times factor, into one
// to the data themselves. It reports false where numbers do not reach so far.
func (f *Fit) leaveUnits(unit, factor float64, loss framework.Loss) bool {
	m := f.Model
	floats.Scale(unit, m.C)
	floats.Scale(unit, m.Tau)
	for i := range m.Theta {
		m.Theta[i] /= unit
	}
	m.Loss = loss
	m.Meta.Loss = describeLoss(loss)
	for _, v := range []*float64{&m.Meta.Objective, &m.Meta.Penalty, &m.Meta.MeanLoss, &f.Run.Cost} {
		*v *= factor
	}
	x := f.Run.Point
	floats.Scale(unit, x[BlockC])
	floats.Scale(unit, x[BlockTau])
	floats.Scale(1/unit, x[BlockTheta])
	for i := range f.Run.History {
		f.Run.History[i].Cost *= factor
	}
	if k := m.Meta.KKT; k != nil {
		k.C *= factor / unit
		k.Q *= factor
		k.Theta *= factor * unit
		k.Tau *= factor / unit
	}
	return f.Model.Validate() == nil && (framework.Point{{m.Meta.Objective, m.Meta.Penalty}}).Finite()
}

// inUnits returns the model and the data in the unit that fits of them take.
func (m *Model) inUnits(x Data) (*Model, Data, float64, error) {
	unit := rows.WorkingUnit(x)
	l, ok := m.Loss.(framework.Rescaler)
	if unit == 1 || !ok {
		return m, x, 1, nil
	}
	scaled, factor := *m, 0.0
	scaled.Loss, factor = l.Rescale(unit)
	if factor == 0 || math.IsInf(factor, 0) {
		return nil, x, 0, rows.ErrOverflow
	}
	scaled.C, scaled.Tau, scaled.Theta = slices.Clone(m.C), slices.Clone(m.Tau), slices.Clone(m.Theta)
	floats.Scale(1/unit, scaled.C)
	floats.Scale(1/unit, scaled.Tau)
	floats.Scale(unit, scaled.Theta)
	scaled.Meta.Objective /= factor
	scaled.Meta.Penalty /= factor
	return &scaled, x.InUnits(unit), unit, nil
}
