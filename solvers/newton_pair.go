package solvers

import (
	"errors"

	"github.com/scqm/scqm/framework"
)

// A step along a valley that bends leaves it, and costs more by the climb than it gains.
// A second step leads back to the bottom, farther on than steps that are short enough not
// to climb (the watchdog technique, see [PrimalDual]).

const (
	// pairRise is the rise of the cost by the first step of a pair, relative to the
	// decrease that it promised, up to which the second one is tried.
	pairRise = 10
	// pairShare is the part of that decrease that the two of them must have.
	pairShare = 0.25
)

// pair goes to the trial, which promised a decrease, takes another step from there with
// the same damping, and stays there where the two of them lower the cost by enough. Else it
// goes back, where the system is still that of a shorter step.
func (s *NewtonState) pair(e *framework.Evaluator, promised float64) (taken bool, err error) {
	if s.spare == nil {
		s.spare, s.from = newSchur(s.schur.ArrowheadShape), s.X.Clone()
		s.spare.implicit = true
	}
	s.from.CopyFrom(s.X)
	s.X, s.trial = s.trial, s.X
	s.schur, s.spare = s.spare, s.schur
	cost := s.Cost
	if _, err = s.assemble(e); err == nil {
		s.schur.solve(s.Mu)
		cost, err = s.try(e)
	}
	if err == nil && s.Cost-cost > pairShare*promised {
		s.X, s.trial = s.trial, s.X
		s.Cost, s.Nu, s.Assembled = cost, 2, false
		return true, nil
	}
	s.X.CopyFrom(s.from)
	s.schur, s.spare = s.spare, s.schur
	s.Assembled = true
	if errors.Is(err, framework.ErrNonFinite) { // on a kink
		err = nil
	}
	return false, err
}
