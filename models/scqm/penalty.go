package scqm

import (
	"fmt"
	"math"
)

// setRidge turns the scale-free ridge into Lambda.
func (p *Problem) setRidge(ridge float64, flat *placed) error {
	if ridge == 0 || p.Shape().S == 0 {
		return nil
	}
	cost, err := p.flatCost(flat)
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

// scaleRidge sets Lambda from the cost of the flat start and the mean squared
// distance of the rows from their mean. No start has a larger penalty than the flat
// one has cost.
func (p *Problem) scaleRidge(ridge, flat, spread float64) error {
	p.Lambda, p.MaxPenalty = ridge*flat/p.Data().TotalWeight()*spread, flat
	if math.IsInf(p.Lambda, 0) || math.IsNaN(p.Lambda) {
		return fmt.Errorf("scqm: the ridge overflows at the scale of the data; rescale them: %w", ErrInput)
	}
	return nil
}
