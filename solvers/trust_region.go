package solvers

import (
	"errors"
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
)

// TrustRegion is the Riemannian trust-region method with truncated conjugate
// gradients. An iteration minimises the model
//
//	m(eta) = F + <g,eta> + 1/2 <eta, Hess F eta>,  |eta|_M <= Delta,
//
// on the tangent space with truncated conjugate gradients, and moves to
// R(eta) where the cost falls by a tenth of what the model predicts at least. The
// radius is a quarter after a ratio below 1/4, and twice as large after one above
// 3/4 at the boundary. M is the inverse of the problem's preconditioner where it has
// one, else the metric. The first Delta is an eighth of the root of the dimension, or
// with a preconditioner the length of its step. Convergence is of order 3/2. Without second derivatives
// ([framework.TwiceDifferentiable]) differences of gradients serve. Where rounding hides
// the decrease, the slopes at both ends of the step decide instead of costs.
//
// Sources: P.-A. Absil, C. G. Baker and K. A. Gallivan, Trust-region methods on
// Riemannian manifolds, Found. Comput. Math. 7 (2007); T. Steihaug, The conjugate
// gradient method and trust regions in large scale optimization, SIAM J. Numer.
// Anal. 20 (1983); S. C. Eisenstat and H. F. Walker, Choosing the forcing terms in an
// inexact Newton method, SIAM J. Sci. Comput. 17 (1996).
//
// The zero value is ready to use.
type TrustRegion struct {
	// GaussNewton takes the Gauss-Newton model of a [framework.GaussNewton] in place
	// of the Hessian: the method of Levenberg and Marquardt, of iteratively
	// reweighted least squares where the loss is not quadratic. Other problems are
	// refused.
	GaussNewton bool
}

const (
	// acceptedDecrease is the least ratio of actual to predicted decrease of an accepted step; poorModel and
	// goodModel are the ratios that change the radius.
	acceptedDecrease, poorModel, goodModel = 0.1, 0.25, 0.75
	// minRadius is the radius, relative to the first one, at which the solver gives up.
	minRadius = 1e-20
)

// Name returns "trust_region".
func (TrustRegion) Name() string { return "trust_region" }

// NewState returns an empty state for a stored run.
func (TrustRegion) NewState() framework.State { return &TrustRegionState{} }

// TrustRegionState is the state of a run of [TrustRegion].
type TrustRegionState struct {
	Descent
	// Radius is that of the next step, FirstRadius that of the first one, and
	// LastNorm the norm of the gradient before the last step, 0 before that.
	Radius, FirstRadius, LastNorm float64

	model truncated
}

// Init evaluates the start and its gradient.
func (a TrustRegion) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	if _, ok := framework.As[framework.GaussNewton](e.Problem()); a.GaussNewton && !ok {
		return nil, fmt.Errorf("solvers: trust_region: the problem offers no Gauss-Newton products: %w", errors.ErrUnsupported)
	}
	s := &TrustRegionState{}
	return s, s.start(e, x, true)
}

// Step shortens the radius until a step is taken.
func (a TrustRegion) Step(e *framework.Evaluator, state framework.State) error {
	s := state.(*TrustRegionState)
	if err := a.prepare(e, s); err != nil {
		return err
	}
	o := a.subproblem(e, s)
	for s.Radius > minRadius*s.FirstRadius {
		o.radius = s.Radius
		if err := s.model.minimise(e.Blocks(), s.dir, s.X, s.Grad, o); err != nil {
			return err
		}
		if !(s.model.decrease > 0) || math.IsInf(s.model.decrease, 0) {
			break
		}
		ratio, err := s.ratio(e)
		if err != nil {
			return err
		}
		switch {
		case !(ratio >= poorModel):
			s.Radius = math.Min(s.Radius, s.model.length()) / 4
		case ratio > goodModel && s.model.boundary:
			s.Radius *= 2
		}
		if ratio > acceptedDecrease {
			s.LastNorm = s.norm(e.Blocks())
			s.take()
			s.Anchor = nil // the preconditioner is built at every point
			return nil
		}
	}
	return framework.ErrNoProgress
}

// prepare builds the preconditioner at X and chooses the first radius.
func (a TrustRegion) prepare(e *framework.Evaluator, s *TrustRegionState) error {
	s.Descent.prepare(e)
	if _, err := s.refresh(e); err != nil {
		return err
	}
	if s.Radius > 0 {
		return nil
	}
	if s.Anchor != nil {
		s.precondition(e, s.work, s.X, s.Grad)
		s.Radius = math.Sqrt(math.Max(0, inner(e.Blocks(), s.X, s.Grad, s.work)))
	}
	if !(s.Radius > 0) {
		s.Radius = math.Sqrt(float64(framework.Product(e.Blocks()).Dim())) / 8
	}
	s.FirstRadius = s.Radius
	return nil
}

// subproblem is the model at X, for any radius.
func (a TrustRegion) subproblem(e *framework.Evaluator, s *TrustRegionState) subproblem {
	o := subproblem{
		multiply:     func(dst, v framework.Point) error { return e.Hessian(dst, s.X, s.Euclidean, v) },
		precondition: func(dst, v framework.Point) { s.precondition(e, dst, s.X, v) },
		most:         framework.Product(e.Blocks()).Dim(), last: s.LastNorm,
	}
	if a.GaussNewton {
		o.multiply = func(dst, v framework.Point) error { return e.GaussNewton(dst, s.X, v) }
	}
	return o
}

// ratio evaluates the end of the step and returns the ratio of actual to predicted
// decrease.
func (s *TrustRegionState) ratio(e *framework.Evaluator) (float64, error) {
	_, resumes := framework.As[resumer](e.Problem())
	if ok, err := s.try(e, s.X, 1, !resumes); err != nil || !ok {
		return math.Inf(-1), err
	}
	actual := s.Cost - s.trial.cost
	near := s.model.decrease <= nearRounding*math.Abs(s.Cost)
	if near && actual < -costNoise*math.Abs(s.Cost) {
		return math.Inf(-1), nil
	}
	if !near && !(actual > acceptedDecrease*s.model.decrease) {
		return actual / s.model.decrease, nil
	}
	if err := s.endSlope(e, s.X, resumes); err != nil {
		return 0, err
	}
	if near {
		actual = -(inner(e.Blocks(), s.X, s.Grad, s.dir) + s.trial.slope) / 2
	}
	return actual / s.model.decrease, nil
}
