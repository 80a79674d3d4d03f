package solvers

import "github.com/scqm/scqm/framework"

// Gradient returns the gradient of the inner solver where that minimises the unsmoothed cost and provides one,
// else nil.
func (s *ContinuationState) Gradient() framework.Point {
	if s.Eps != 0 || s.Inner == nil {
		return nil
	}
	if g, ok := s.Inner.(framework.Graded); ok {
		return g.Gradient()
	}
	return nil
}
