package solvers

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// A long valley that bends holds Newton's method up: the quadratic model is good, each
// step gains next to nothing, and one a few times as long leaves the valley. Such a
// step is taken all the same, and a few steps of Newton's method lead back to the
// bottom of the valley; all of them together count (the watchdog technique, see
// [PrimalDual]). How long it is follows from its success. Sheets that are nearly flat
// have such valleys: they hardly determine where their vertex is.

const (
	// creeping is the decrease of the cost in an iteration, relative to the cost, up to
	// which it creeps.
	creeping = 1e-6
	// firstLeap is the first length of a leap, in steps; it is multiplied or divided by
	// leapFactor and stays between shortestLeap and longestLeap.
	firstLeap, leapFactor, shortestLeap, longestLeap = 8, 2, 2, 1 << 20
	// leapReturn bounds the steps that lead back to the valley.
	leapReturn = 3
	// leapShare is the part of the gain of as many steps that a leap must have.
	leapShare = 0.25
	// creepingFirst is the number of creeping iterations in a row before the first
	// leap, as next to a minimum there are some too; leapRest is that after the shortest
	// leap failed.
	creepingFirst, leapRest = 10, 16
)

// Leaping implements [framework.Leaping].
func (s *NewtonState) Leaping() bool { return s.Leap > 0 }

// leap goes on from X, to which a step led from the point in trial, along that step,
// if iterations creep. The step gained and promised the decreases given.
func (s *NewtonState) leap(e *framework.Evaluator, gained, predicted float64) error {
	size := math.Abs(s.Cost)
	if gained > creeping*size || gained <= belowRounding*size {
		s.Leap, s.Rest = 0, creepingFirst
		return nil
	}
	if s.Rest > 0 || gained < predicted/2 {
		s.Rest = max(0, s.Rest-1)
		return nil
	}
	if s.Leap == 0 {
		s.Leap = firstLeap
	}
	home, cost := s.X.Clone(), s.Cost
	below := cost - leapShare*s.Leap*gained
	led, err := s.leapAndReturn(e, below)
	if err == nil && led < below {
		s.Cost = led
		s.Leap = min(s.Leap*leapFactor, longestLeap)
		return nil
	}
	s.X.CopyFrom(home)
	s.Cost, s.Assembled = cost, false
	if s.Leap /= leapFactor; s.Leap < shortestLeap {
		s.Leap, s.Rest = 0, leapRest
	}
	if errors.Is(err, framework.ErrNonFinite) { // on a kink
		return nil
	}
	return err
}

// leapAndReturn moves X to Leap times the step from the point in trial, and from there
// by steps of Newton's method until it is below a cost. It returns the cost of the last
// one, infinite where they lead nowhere.
func (s *NewtonState) leapAndReturn(e *framework.Evaluator, below float64) (float64, error) {
	s.X, s.trial = s.trial, s.X
	floats.Scale(s.Leap, s.schur.outer)
	floats.Scale(s.Leap, s.schur.inner)
	cost, err := s.try(e)
	for range leapReturn {
		if err != nil || math.IsInf(cost, 0) {
			return math.Inf(1), err
		}
		s.X, s.trial = s.trial, s.X
		if _, err = s.assemble(e); err != nil {
			return math.Inf(1), err
		}
		s.schur.solve(s.Mu)
		before := cost
		if cost, err = s.try(e); err != nil || !(cost <= before) {
			return math.Inf(1), err
		}
		if cost < below {
			break
		}
	}
	s.X, s.trial = s.trial, s.X
	s.Assembled = false
	return cost, err
}
