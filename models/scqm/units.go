package scqm

import (
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"gonum.org/v1/gonum/floats"
)

// farUnits is the number of binary digits by which the size of the data may
// differ from 1. Products of a few such sizes and their inverses, as in second
// derivatives, neither overflow nor vanish.
const farUnits = 100

// workingUnit returns the power of two in units of which data are about 1, or 1
// where they are not far from that. Dividing by it rounds nothing.
func workingUnit(x Data) float64 {
	var size float64
	first := x.Row(0)
	for i := range x.N {
		for j, v := range x.Row(i) {
			size = math.Max(size, math.Abs(v-first[j]))
		}
	}
	if size == 0 || math.IsInf(size, 0) {
		return 1
	}
	if _, exponent := math.Frexp(size); exponent < -farUnits || exponent > farUnits {
		return math.Ldexp(1, exponent)
	}
	return 1
}

// inUnits returns the data divided by a unit.
func (x Data) inUnits(unit float64) Data {
	scaled := x
	scaled.X = make([]float64, len(x.X))
	for i, v := range x.X {
		scaled.X[i] = v / unit
	}
	return scaled
}

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
	unit := workingUnit(x)
	l, ok := m.Loss.(framework.Rescaler)
	if unit == 1 || !ok {
		return m, x, 1, nil
	}
	scaled, factor := *m, 0.0
	scaled.Loss, factor = l.Rescale(unit)
	if factor == 0 || math.IsInf(factor, 0) {
		return nil, x, 0, errOverflow
	}
	scaled.C, scaled.Tau, scaled.Theta = slices.Clone(m.C), slices.Clone(m.Tau), slices.Clone(m.Theta)
	floats.Scale(1/unit, scaled.C)
	floats.Scale(1/unit, scaled.Tau)
	floats.Scale(unit, scaled.Theta)
	scaled.Meta.Objective /= factor
	scaled.Meta.Penalty /= factor
	return &scaled, x.inUnits(unit), unit, nil
}
