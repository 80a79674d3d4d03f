package solvers

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// Inner rows far from their minima, where their part of the cost is next to straight, promise more
// than their steps gain. The outer blocks are not to blame, but their steps are damped for it, more
// in every iteration, until they rest while the rows creep. So rows are led to their minima first.

const (
	// settleSteps bounds the steps of the rows, settleFactor is how many times as far as the last one led the next one
	// may, and settleShare is the part of the gain of the first of them that the others must have.
	settleSteps, settleFactor, settleShare = 30, 4, 1e-3
)

// settle leads the inner rows to their minima, after a step from the point in trial.
func (s *NewtonState) settle(e *framework.Evaluator) error {
	block := s.arrowhead.Block
	floats.SubTo(s.moved, s.X[block], s.trial[block])
	least := 0.0
	for range settleSteps {
		floats.Scale(settleFactor, s.moved)
		floats.Add(s.moved, s.X[block])
		s.trial.CopyFrom(s.X)
		cost, err := e.InnerStep(s.trial, s.moved)
		if err != nil {
			return err
		}
		gained := s.Cost - cost
		least = max(least, settleShare*gained)
		if !(gained > 0) || math.IsInf(cost, 0) {
			return nil
		}
		floats.SubTo(s.moved, s.trial[block], s.X[block])
		s.X, s.trial = s.trial, s.X
		if s.Cost = cost; gained < least {
			return nil
		}
	}
	return nil
}
