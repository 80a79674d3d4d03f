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
	// maxExchanges is the number of other places of inner rows that are tried, and
	// exchangeRounding the first eps there, relative to the scale: the other rows are
	// where they belong. From widerRounding others can follow the row. Where that leads is
	// lower as often, but in other fits, so that the first widerExchanges are tried so too.
	maxExchanges, exchangeRounding = 6, 1e-2
	widerExchanges, widerRounding  = 3, 5e-2
	// largeTrials is the number of trials of systems of more than smallOuter outer
	// coordinates, and triedWork the most products that one of their iterations takes.
	largeTrials, triedWork = 2, 1 << 23
	// promisingExchanges is the number of other places that are tried because the outer
	// coordinates promise to gain by following them.
	promisingExchanges = 3
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
		if worth, err := s.worthTrying(e); !worth || err != nil {
			s.Done = true
			return err
		}
	}
	rounds := len(trialRoundings)
	if s.schur.Outer > smallOuter {
		rounds = largeTrials
	}
	if s.Trial == rounds && !e.FirstOrder() {
		if err := s.findMoves(e); err != nil {
			return err
		}
	}
	move := s.Trial - rounds
	if s.Done = move >= 0 && move == len(s.Moves); s.Done {
		return nil
	}
	s.Trial++
	s.Before = s.Cost
	s.At.CopyFrom(s.X)
	switch {
	case !s.Stationary:
		return s.beginRound(e, valleyRounding)
	case move < 0:
		return s.beginRound(e, trialRoundings[s.Trial-1])
	}
	m := s.Moves[move]
	copy(s.At[s.arrowhead.Block][m.Row*len(m.At):], m.At)
	return s.beginRound(e, m.Part)
}

// TriedMove is an inner row's other place with which a trial begins, and its first eps relative to
// the scale.
type TriedMove struct {
	framework.Exchange
	Part float64
}

// findMoves lists the moves of inner rows that are to be tried.
func (s *PrimalDualState) findMoves(e *framework.Evaluator) error {
	s.Moves = s.Moves[:0]
	add := func(list []framework.Exchange, part float64) {
		for _, m := range list {
			s.Moves = append(s.Moves, TriedMove{m, part})
		}
	}
	if s.schur.Outer <= smallOuter {
		near, err := e.Exchanges(s.X, maxExchanges)
		add(near, exchangeRounding)
		add(near[:min(widerExchanges, len(near))], widerRounding)
		return err
	}
	far, err := e.PromisingExchanges(s.X, promisingExchanges)
	add(far, widerRounding)
	e.Smooth(s.Eps) // by which the stationarity is measured, and which the problem has changed
	e.Smooth(0)
	return err
}

// worthTrying reports whether a point is to be tried. In systems whose trials take long it is not where rows are not distinct:
// of a table with 125 rows and 13 columns trials took nine tenths of the time, for what predicts no better.
func (s *PrimalDualState) worthTrying(e *framework.Evaluator) (bool, error) {
	if s.schur.Outer <= smallOuter {
		return true, nil
	}
	worth, err := e.Distinct(s.X)
	e.Smooth(s.Eps) // by which the stationarity is measured
	e.Smooth(0)
	return worth, err
}

// mayTry reports whether another trial may begin.
func (s *PrimalDualState) mayTry(e *framework.Evaluator) bool {
	if s.Gains > maxGains || e.Differentiable() || e.FirstOrder() && !s.Searches {
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
