package solvers

import (
	"math"

	"github.com/scqm/scqm/framework"
)

const (
	// regionGrowth is the radius of the trust region, in lengths of the last step, where that was not
	// shortened.
	regionGrowth = 2
	// vainTrials is the number of rejected trials after which steps are those of a trust region, and
	// regionProducts bounds their Hessian products.
	vainTrials, regionProducts = 2, 2
)

// StepLength holds the lengths of the last steps of [LBFGS].
type StepLength struct {
	// Last is the length of the last step, 0 before that, and Shortened says that the
	// first trial of its search was longer.
	Last      float64
	Shortened bool
	// Region says that the next step is that of a trust region, and Negative that one of
	// those since the last other step has met negative curvature.
	Region, Negative bool

	end stepEnd
}

// learn records the step taken along a direction of the given length, and the first trial.
func (l *StepLength) learn(length, step, first float64) {
	l.Last, l.Shortened = step*length, step < first
}

// length is the norm of the direction.
func (s *LBFGSState) length(blocks []framework.Block) float64 {
	return math.Sqrt(inner(blocks, s.X, s.dir, s.dir))
}

// stepEnd says where a truncated Newton step ends.
type stepEnd int

const (
	within stepEnd = iota
	atRadius
	alongNegative // at the radius, where that is finite
)

// boundary reports whether the step alpha along the direction of the conjugate gradients stays within the
// radius; alpha is not positive where the curvature is not. If not, dir is extended to the radius, where that
// is finite.
func (s *LBFGSState) boundary(blocks []framework.Block, alpha, radius float64) stepEnd {
	positive := alpha > 0 && !math.IsInf(alpha, 1)
	if positive && math.IsInf(radius, 1) {
		return within
	}
	d := s.conjugate.dir
	square, cross := inner(blocks, s.X, d, d), inner(blocks, s.X, s.dir, d)
	room := radius*radius - inner(blocks, s.X, s.dir, s.dir)
	if positive && alpha*(2*cross+alpha*square) <= room {
		return within
	}
	if !math.IsInf(radius, 1) {
		addScaled(s.dir, (math.Sqrt(cross*cross+square*math.Max(0, room))-cross)/square, d)
	}
	if positive {
		return atRadius
	}
	return alongNegative
}

// regionDirection writes the step of a trust region into dir. The radius is the length of the last step, or
// more where the search did not shorten that. One or two products only find the curvature along the gradient,
// which pairs cannot represent where it is negative: that suffices to leave the region.
func (s *LBFGSState) regionDirection(e *framework.Evaluator) (err error) {
	radius := s.Length.Last
	if !s.Length.Shortened {
		radius *= regionGrowth
	}
	s.Length.end, err = s.truncated(e, regionProducts, radius, negate)
	return err
}

// leaveRegion returns to other steps after one that did not move, or that ended inside the region and was not
// shortened. A Newton step comes first. Pairs from a region of negative curvature are dropped.
func (s *LBFGSState) leaveRegion(moved bool) {
	l := &s.Length
	l.Negative = l.Negative || l.end == alongNegative
	if moved && (l.Shortened || l.end != within) {
		return
	}
	l.Region = false
	if l.Negative {
		s.forget()
	}
	s.Newton.Wait, s.Newton.Fall, s.Newton.Gain, s.Newton.Passes = 0, 0, 0, 0
}
