package solvers

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

// Init sweeps once from the start.
func (a Alternating) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	if err := Supports(a, e.Problem()); err != nil {
		return nil, err
	}
	s := &AlternatingState{X: x}
	s.prepare(e)
	for _, k := range latent.OuterBlocks(e) {
		s.Image[k] = make([]float64, len(x[k]))
		copy(s.trial[k], x[k])
	}
	cost, err := s.sweep(e)
	if err != nil {
		return nil, err
	}
	s.accept(e, cost)
	for _, k := range latent.OuterBlocks(e) {
		s.Last[k] = s.Last[k][:0] // there was no image before
	}
	return s, nil
}

// prepare allocates the fields that are not stored.
func (s *AlternatingState) prepare(e *framework.Evaluator) {
	if s.next != nil {
		return
	}
	blocks := e.Blocks()
	s.next, s.trial = framework.NewPoint(blocks), make(framework.Point, len(blocks))
	if s.Image == nil {
		s.Image, s.Last = make(framework.Point, len(blocks)), make(framework.Point, len(blocks))
	}
	for _, k := range latent.OuterBlocks(e) {
		s.trial[k] = make([]float64, len(s.next[k]))
	}
}

// Step moves to the extrapolated point, or to the image if the extrapolated point is not better.
func (a Alternating) Step(e *framework.Evaluator, state framework.State) error {
	s := state.(*AlternatingState)
	s.prepare(e)
	before := s.Cost
	moved, err := a.leap(e, s)
	if err == nil && !moved {
		err = s.plainSweep(e)
	}
	if err != nil {
		return err
	}
	s.Slow++
	if before-s.Cost > slowDecrease*math.Pow(patience, float64(s.Failures))*math.Abs(before) {
		s.Slow = 0
	}
	s.Mixing = s.Mixing || s.Slow >= slowSweeps
	return nil
}

// leap tries the extrapolated point and reports whether it was accepted.
func (a Alternating) leap(e *framework.Evaluator, s *AlternatingState) (bool, error) {
	if a.Plain || !s.extrapolate(e) {
		return false, nil
	}
	for _, k := range latent.OuterBlocks(e) {
		if e.Blocks()[k].Restore(s.trial[k]) != nil {
			s.forget()
			return false, nil
		}
	}
	cost, err := s.sweep(e)
	if err != nil {
		return false, err
	}
	if !(cost <= s.Cost) {
		s.forget()
		return false, nil
	}
	s.accept(e, cost)
	return true, nil
}

// extrapolate writes the next point of Nesterov's or Anderson's method into
// trial, and reports false where that is the image itself.
func (s *AlternatingState) extrapolate(e *framework.Evaluator) bool {
	if s.Mixing {
		s.History.push(e, s.X, s.Image)
		return s.History.mix(e, s.trial)
	}
	t := math.Max(s.Momentum, 1)
	s.Momentum = (1 + math.Sqrt(1+4*t*t)) / 2
	beta := (t - 1) / s.Momentum
	if beta == 0 {
		return false
	}
	for _, k := range latent.OuterBlocks(e) {
		if len(s.Last[k]) != len(s.Image[k]) {
			return false
		}
		floats.SubTo(s.trial[k], s.Image[k], s.Last[k])
		floats.AddScaledTo(s.trial[k], s.Image[k], beta, s.trial[k])
	}
	return true
}

// forget ends an extrapolation that increased the cost. The momentum of phase 1 is kept after a failure of
// phase 2, which happens when the iterates cross a plateau: Anderson acceleration converges to the nearest
// stationary point, even a saddle.
func (s *AlternatingState) forget() {
	if s.Mixing {
		s.Failures++
		s.Mixing, s.Slow, s.History = false, 0, Mixture{}
		return
	}
	s.Momentum = goldenRatio
}

// plainSweep goes to the image. In theory the cost is not higher there, except by rounding or for inexact images.
func (s *AlternatingState) plainSweep(e *framework.Evaluator) error {
	for _, k := range latent.OuterBlocks(e) {
		copy(s.trial[k], s.Image[k])
	}
	cost, err := s.sweep(e)
	switch {
	case err != nil:
		return err
	case math.IsInf(cost, 0):
		return fmt.Errorf("%w: the cost after a sweep", framework.ErrNonFinite)
	case !(cost <= s.Cost):
		return framework.ErrNoProgress
	}
	s.accept(e, cost)
	return nil
}

// sweep alternates once from the outer blocks of trial and the inner ones of X.
func (s *AlternatingState) sweep(e *framework.Evaluator) (float64, error) {
	outer := latent.OuterBlocks(e)
	for k, b := range s.X {
		if !slices.Contains(outer, k) {
			s.trial[k] = b
		}
	}
	return latent.Sweep(e, s.next, s.trial)
}

// accept makes the point just swept the iterate.
func (s *AlternatingState) accept(e *framework.Evaluator, cost float64) {
	outer := latent.OuterBlocks(e)
	for k := range s.X {
		if !slices.Contains(outer, k) {
			s.X[k], s.next[k] = s.next[k], s.X[k]
			continue
		}
		s.X[k], s.trial[k] = s.trial[k], s.X[k]
		s.Last[k] = append(s.Last[k][:0], s.Image[k]...)
		copy(s.Image[k], s.next[k])
	}
	s.Cost = cost
}
