package solvers

import "github.com/scqm/scqm/framework"

// Gradient returns the gradient of the inner solver where it minimises the cost
// itself and tells it.
func (s *ContinuationState) Gradient() framework.Point {
	if s.Eps != 0 || s.Inner == nil {
		return nil
	}
	if g, ok := s.Inner.(framework.Graded); ok {
		return g.Gradient()
	}
	return nil
}
