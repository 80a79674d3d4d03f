package solvers

import "github.com/scqm/scqm/framework"

// stepSmooth does one iteration on a cost without kinks: of the inner solver, or of [TrustRegion] once that
// crawls.
func (a Continuation) stepSmooth(e *framework.Evaluator, s *ContinuationState) error {
	if s.Region {
		return TrustRegion{}.Step(e, s.Inner)
	}
	if a.crawls(e, s) {
		x, _ := s.Inner.Iterate()
		state, err := TrustRegion{}.Init(e, x.Clone())
		if err != nil {
			return err
		}
		s.Inner, s.Region = state, true
		return TrustRegion{}.Step(e, s.Inner)
	}
	return a.Inner.Step(e, s.Inner)
}

// crawlIterations is the number of iterations in which [LBFGS] is to lower the norm of the gradient to a
// crawlFall of it; else it crawls.
const crawlIterations, crawlFall = 300, 0.1

// crawls reports, every crawlIterations, whether [TrustRegion] is to replace [LBFGS]: on smooth costs without
// a measure of their own.
func (a Continuation) crawls(e *framework.Evaluator, s *ContinuationState) bool {
	inner, ok := s.Inner.(*LBFGSState)
	if !ok || inner.Euclidean == nil || !a.Finish {
		return false
	}
	if s.Watch++; s.Watch%crawlIterations != 0 {
		return false
	}
	before := s.Watched
	s.Watched = inner.norm(e.Blocks())
	return before > 0 && s.Watched > crawlFall*before
}

// Successor implements [framework.State].
func (s *ContinuationState) Successor() string {
	switch {
	case s.Finish != nil:
		return PrimalDual{}.Name()
	case s.Region:
		return TrustRegion{}.Name()
	}
	return ""
}

// Gradient returns the gradient of the inner solver where that minimises the unsmoothed cost and provides one,
// else nil.
func (s *ContinuationState) Gradient() framework.Point {
	if s.Eps != 0 || s.Inner == nil {
		return nil
	}
	if g, ok := s.Inner.(interface{ Gradient() framework.Point }); ok {
		return g.Gradient()
	}
	return nil
}
