package frameworktest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
)

const (
	// smoothedShare is the length, in units of the smoothing scale, over which derivatives are tested and kinks are
	// searched.
	smoothedShare = 0.3
	// To find a kink, a line is cut into kinkSteps pieces. The piece over which the slope rises most is then halved
	// kinkHalvings times: the last half of these make it a thousand times shorter.
	kinkSteps, kinkHalvings = 64, 20
	// kinkShare is the fraction of the change of slope that remains after the halvings at a kink. smoothShare is the
	// fraction of it that the smoothed cost may have there.
	kinkShare, smoothShare = 0.5, 1e-2
)

// checkSmoothable tests the laws of framework.Smoothable: smoothed costs tend to the cost, have correct gradients,
// and have no kink where the cost has one.
func (c *problemCheck) checkSmoothable(r *Report) {
	p, ok := c.p.(framework.Smoothable)
	if !ok {
		return
	}
	var scale float64
	r.try("smoothing scale", func() (err error) {
		x := c.x.Clone()
		if scale, err = p.SmoothingScale(x); err != nil {
			return err
		}
		if !(scale >= 0) || math.IsInf(scale, 0) || !x.Equal(c.x) {
			return fmt.Errorf("it is %v, or the point is changed", scale)
		}
		return nil
	})
	if !r.OK() || scale == 0 { // then there is nothing to round at the point
		return
	}
	s := &smoothing{problemCheck: c, s: p, scale: scale}
	r.try("smoothing tends to the cost", s.tends)
	r.try("smoothing undone", s.undone)
	r.try("smoothing rounds", s.rounds)
	r.try("smoothed gradient", func() error { return s.rounded(s.gradients) })
	if framework.NewEvaluator(context.Background(), c.p).HasHessian() {
		r.try("smoothed hessian", func() error { return s.rounded(c.hessianSlope) })
	}
}

// smoothing is a problem with kinks at the point of a problemCheck.
type smoothing struct {
	*problemCheck
	s     framework.Smoothable
	scale float64
	cost  float64 // before any smoothing
}

// rounded tests something with smoothed kinks.
func (s *smoothing) rounded(try func() error) error {
	defer s.s.Smooth(0)
	s.s.Smooth(smoothedShare * s.scale)
	return try()
}

func (s *smoothing) costAt(eps float64) (float64, error) {
	defer s.s.Smooth(0)
	s.s.Smooth(eps)
	return s.p.Evaluate(nil, s.x)
}

// tends compares smoothed costs with the cost itself, for decreasing smoothing lengths. A cost smoothed over the
// scale of the residuals must differ from the cost.
func (s *smoothing) tends() error {
	cost, err := s.p.Evaluate(nil, s.x)
	if err != nil {
		return err
	}
	s.cost = cost
	var first, last float64
	for k := range 7 {
		now, err := s.costAt(s.scale * math.Pow(10, -float64(k)))
		if err != nil {
			return err
		}
		last = math.Abs(now - cost)
		first = math.Max(first, last)
	}
	switch noise := 1e-12 * math.Abs(cost); {
	case !(first > 1e3*noise):
		return fmt.Errorf("the cost rounded over %g is the cost itself, %v", s.scale, cost)
	case !(last <= 1e-3*first+noise):
		return fmt.Errorf("the cost rounded over a millionth of %g is off by %g, over more of it by %g", s.scale, last, first)
	}
	return nil
}

// undone tests whether Smooth(0) restores the cost.
func (s *smoothing) undone() error {
	_, err := s.costAt(s.scale)
	after, err2 := s.p.Evaluate(nil, s.x)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if s.cost != after {
		return fmt.Errorf("the cost is %v, and %v after Smooth(0)", s.cost, after)
	}
	return nil
}

func (s *smoothing) gradients() error {
	for k, b := range s.blocks {
		if b.Dim() == 0 {
			continue
		}
		if err := s.gradientSlope(k); err != nil {
			return fmt.Errorf("block %s: %w", b.Name, err)
		}
	}
	return nil
}

// rounds looks for a jump of the slope along some lines, and tests that the smoothed cost has none there. Slopes jump
// upwards at kinks of losses, which are convex. They jump downwards at cut loci, as of distances on the sphere, which
// do not count. A cost that reports that it is differentiable must have no jump itself.
func (s *smoothing) rounds() error {
	for range directions {
		v := s.directions()
		low, high, jump, err := s.findJump(v)
		if err != nil {
			return err
		}
		if jump == 0 {
			continue
		}
		if d, ok := s.p.(differentiable); ok && d.Differentiable() {
			return fmt.Errorf("the cost is said to be differentiable, but its slope jumps by %g", jump)
		}
		return s.rounded(func() error {
			below, err := s.slopeAt(v, low)
			above, err2 := s.slopeAt(v, high)
			if err := errors.Join(err, err2); err != nil {
				return err
			}
			if !(above-below <= smoothShare*jump) {
				return fmt.Errorf("where the slope jumps by %g, that of the rounded cost does by %g", jump, above-below)
			}
			return nil
		})
	}
	return nil
}

// findJump returns a short piece of the line R(tv), 0 <= t <= 1, over which the slope rises about as much as over a
// piece a thousand times as long. The rise is 0 if there is none.
func (s *smoothing) findJump(v framework.Point) (low, high, jump float64, err error) {
	var slopes [kinkSteps + 1]float64
	for k := range slopes {
		if slopes[k], err = s.slopeAt(v, float64(k)/kinkSteps); err != nil {
			return 0, 0, 0, err
		}
	}
	var below, above float64 // the slopes at low and high
	for k := range kinkSteps {
		if rise := slopes[k+1] - slopes[k]; rise > jump {
			jump, below, above = rise, slopes[k], slopes[k+1]
			low, high = float64(k)/kinkSteps, float64(k+1)/kinkSteps
		}
	}
	var longer float64 // the rise over the longer piece
	for k := range kinkHalvings {
		if k == kinkHalvings/2 {
			longer = jump
		}
		middle := (low + high) / 2
		slope, err := s.slopeAt(v, middle)
		if err != nil {
			return 0, 0, 0, err
		}
		if above-slope > slope-below {
			low, below = middle, slope
		} else {
			high, above = middle, slope
		}
		jump = above - below
	}
	if jump < kinkShare*longer {
		jump = 0
	}
	return low, high, max(jump, 0), nil
}

// slopeAt is the slope along v at R(tv).
func (s *smoothing) slopeAt(v framework.Point, t float64) (float64, error) {
	step, x, g := v.Clone(), s.x.Clone(), framework.NewPoint(s.blocks)
	step.Scale(t)
	if err := framework.Product(s.blocks).Retract(x, s.x, step); err != nil {
		return 0, err
	}
	_, err := s.p.Evaluate(g, x)
	return g.Dot(v), err
}
