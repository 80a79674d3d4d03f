package scqm

import (
	"math"

	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// setRidge sets Lambda of the problem from the scale-free ridge.
func (p *Problem) setRidge(ridge float64, flat *placed) error {
	if ridge == 0 || p.Shape().S == 0 {
		return nil
	}
	cost, err := p.Evaluate(nil, flat.x)
	if err != nil {
		return err
	}
	if math.IsNaN(cost) || math.IsInf(cost, 0) {
		if fault := p.FindLossError(flat.x); fault != nil {
			return fault
		}
	}
	return p.scaleRidge(ridge, cost, flat.spread)
}

func (p *Problem) scaleRidge(ridge, flat, spread float64) (err error) {
	p.Regularizer, err = objective.Regularized(ridge, flat, p.Data().TotalWeight(), spread)
	return err
}

// lambda returns the factor of the penalty of a fit, 0 for a flat sheet.
func (m *Model) lambda() float64 {
	f := m.sheet()
	if bent := (objective.Regularizer{Lambda: 1}).PenaltyOf(f.Shape, nil, f.Theta); bent > 0 {
		return m.Meta.Penalty / bent
	}
	return 0
}
