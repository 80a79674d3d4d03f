package solvers

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

const (
	// trialGain is the relative decrease of the cost that a trial must find, and
	// maxGains the number of times that one may. A point that is not stationary is no
	// minimum where a trial, of some hundred iterations, gains more than fallGain.
	trialGain, maxGains, fallGain = 1e-8, 20, 1e-7
	// sameDual is the largest difference of dual variables of one point.
	sameDual = 1e-2
	// largeTrials is the number of trials of systems of more than smallOuter outer
	// coordinates, and triedWork the most products that one of their iterations takes.
	largeTrials, triedWork = 2, 1 << 23
	// valleyRounding is the first eps of the only trial of a point that is not
	// stationary: rounded that far, valleys are followed best.
	valleyRounding = 1
)

// trialRoundings are the first eps of the first trials, relative to the scale.
var trialRoundings = [...]float64{0.5, 1, 2}

// nextTrial begins the next trial, if there is one.
func (s *PrimalDualState) nextTrial(e *framework.Evaluator) error {
	if s.Done = !s.mayTry(e); s.Done {
		return nil
	}
	if s.Trial == 0 { // rows that go elsewhere come first, and the run sees to them
		x, _, err := reassigned(e, s.X, s.Cost)
		if s.Done = x != nil; s.Done || err != nil {
			return err
		}
	}
	rounds := len(trialRoundings)
	if s.schur.Outer > smallOuter {
		rounds = largeTrials
	}
	if s.Done = s.Trial == rounds; s.Done {
		return nil
	}
	s.Trial++
	s.Before = s.Cost
	s.At.CopyFrom(s.X)
	if !s.Stationary {
		return s.beginRound(e, valleyRounding)
	}
	return s.beginRound(e, trialRoundings[s.Trial-1])
}

// mayTry reports whether another trial may begin.
func (s *PrimalDualState) mayTry(e *framework.Evaluator) bool {
	if s.Gains > maxGains || e.Differentiable() || e.FirstOrder() {
		return false
	}
	if s.schur.Outer > smallOuter {
		return s.Stationary && s.schur.Outer*s.schur.Outer <= triedWork/s.schur.Inner()
	}
	return s.Stationary || s.Last
}

// vain reports whether a trial of a stationary point, which ends a stage with the cost
// given, is not worth going on with: as the dual variables tell it has come back to the
// point that it began at, or it is farther above that point than what the stage gained.
// The next stages gain a quarter of that together.
func (s *PrimalDualState) vain(cost float64) bool {
	gained := s.Ended - cost
	s.Ended = cost
	if s.Trial == 0 || !s.Stationary || s.Cost < s.Before {
		return false
	}
	return floats.Distance(s.Dual, s.Multipliers, math.Inf(1)) < sameDual || cost-s.Before > gained
}
