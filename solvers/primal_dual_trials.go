package solvers

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

const (
	// trialGain is the least relative decrease of the cost in a trial that counts, and maxGains bounds the
	// trials with one. A point that is not stationary is no minimum if a trial, of some hundred iterations,
	// gains more than fallGain.
	trialGain, maxGains, fallGain = 1e-8, 20, 1e-7
	// sameDual is the largest entry of the difference of dual variables that count as equal.
	sameDual = 1e-2
	// largeTrials is the number of trials with more than smallOuter outer coordinates, and triedWork bounds the
	// products of one of their iterations.
	largeTrials, triedWork = 2, 1 << 23
	// valleyRounding is the first eps, relative to the scale, of the only trial from a point that is not
	// stationary: valleys are followed best at this smoothing.
	valleyRounding = 1
)

// trialRoundings are the first smoothing lengths eps of the trials, relative to the scale.
var trialRoundings = [...]float64{0.5, 1, 2}

// nextTrial begins the next trial, if any.
func (s *PrimalDualState) nextTrial(e *framework.Evaluator) error {
	if s.Done = !s.mayTry(e); s.Done {
		return nil
	}
	if s.Trial == 0 { // rows to relocate come first, which framework.Solve does
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

// vain reports whether a trial from a stationary point, with this cost at the end of a step, is to be stopped:
// its dual variables are again those of that point, or its cost exceeds that of the point by more than the step
// gained. The remaining steps together gain about a quarter of that.
func (s *PrimalDualState) vain(cost float64) bool {
	gained := s.Ended - cost
	s.Ended = cost
	if s.Trial == 0 || !s.Stationary || s.Cost < s.Before {
		return false
	}
	return floats.Distance(s.Dual, s.Multipliers, math.Inf(1)) < sameDual || cost-s.Before > gained
}
