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
// on the tangent space with the inner solver of Steihaug and Toint, and moves to
// R(eta) where the cost falls by a tenth of what the model predicts at least. The
// radius is a quarter after a ratio below 1/4, and twice as large after one above
// 3/4 at the boundary. M is the inverse of the problem's preconditioner where it has
// one, else the metric. The inner solver ends at a residual of
//
//	|g| min((|g| / |g_|)^(3/2), 1/10),
//
// with g_ the gradient before the last step, so that convergence is of order 3/2 and no
// step is solved for beyond what the next can keep (the second choice of Eisenstat and
// Walker); without second derivatives ([framework.TwiceDifferentiable]) differences of
// gradients serve, and a hundredth is the least. Where rounding hides the decrease, the
// slopes at both ends of the step decide instead of costs.
//
// Sources: P.-A. Absil, C. G. Baker and K. A. Gallivan, Trust-region methods on
// Riemannian manifolds, Found. Comput. Math. 7 (2007); T. Steihaug, The conjugate
// gradient method and trust regions in large scale optimization, SIAM J. Numer.
// Anal. 20 (1983); S. C. Eisenstat and H. F. Walker, Choosing the forcing terms in an
// inexact Newton method, SIAM J. Sci. Comput. 17 (1996).
//
// The zero value is ready to use.
type TrustRegion struct {
	// Radius is the first Delta; 0 stands for an eighth of the root of the
	// dimension, or with a preconditioner for the length of its step.
	Radius float64
	// MaxInner bounds the Hessian products of an iteration; 0 stands for the
	// dimension.
	MaxInner int
	// Plain ignores the preconditioner of the problem.
	Plain bool
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
	X    framework.Point
	Cost float64
	// Grad is the Riemannian gradient at X, Euclidean that of the surrounding
	// space.
	Grad, Euclidean framework.Point
	// Radius is that of the next step, FirstRadius that of the first one, and
	// LastNorm the norm of the gradient before the last step, 0 before that.
	Radius, FirstRadius, LastNorm float64
	// Preconditioned says that the problem holds a preconditioner for X.
	Preconditioned bool

	trial, trialGrad, trialEuclidean framework.Point
	model                            steihaug
}

// Iterate returns the current point and its cost.
func (s *TrustRegionState) Iterate() (framework.Point, float64) { return s.X, s.Cost }

// Gradient returns the Riemannian gradient at the iterate.
func (s *TrustRegionState) Gradient() framework.Point { return s.Grad }

// Resume builds the preconditioner of a stored run again.
func (s *TrustRegionState) Resume(e *framework.Evaluator) error {
	if !s.Preconditioned {
		return nil
	}
	_, err := e.BuildPreconditioner(s.X)
	return err
}

// Init evaluates the start and its gradient.
func (a TrustRegion) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	if a.GaussNewton && !e.HasGaussNewton() {
		return nil, fmt.Errorf("solvers: trust_region: the problem offers no Gauss-Newton products: %w", errors.ErrUnsupported)
	}
	if err := notNegative(a.Name(), "MaxInner", a.MaxInner); err != nil {
		return nil, err
	}
	s := &TrustRegionState{X: x, Grad: framework.NewPoint(e.Blocks()), Euclidean: framework.NewPoint(e.Blocks())}
	cost, err := e.Evaluate(s.Euclidean, x)
	if err != nil {
		return nil, err
	}
	s.Cost = cost
	s.Grad.CopyFrom(s.Euclidean)
	framework.Product(e.Blocks()).Gradient(s.Grad, x, s.Grad)
	return s, nil
}

// Step shortens the radius until a step is taken.
func (a TrustRegion) Step(e *framework.Evaluator, state framework.State) error {
	s := state.(*TrustRegionState)
	if s.trial == nil {
		s.trial = framework.NewPoint(e.Blocks())
		s.trialGrad, s.trialEuclidean = framework.NewPoint(e.Blocks()), framework.NewPoint(e.Blocks())
	}
	if err := a.prepare(e, s); err != nil {
		return err
	}
	for s.Radius > minRadius*s.FirstRadius {
		if err := s.model.minimise(e, s, a); err != nil {
			return err
		}
		if !(s.model.decrease > 0) || math.IsInf(s.model.decrease, 0) {
			break
		}
		ratio, err := s.try(e)
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
			s.accept(e.Blocks())
			return nil
		}
	}
	return framework.ErrNoProgress
}

// prepare builds the preconditioner at X and chooses the first radius.
func (a TrustRegion) prepare(e *framework.Evaluator, s *TrustRegionState) error {
	s.model.allocate(e.Blocks())
	if !a.Plain && !s.Preconditioned {
		ok, err := e.BuildPreconditioner(s.X)
		if err != nil {
			return err
		}
		s.Preconditioned = ok
	}
	if s.Radius > 0 {
		return nil
	}
	s.Radius = a.Radius
	if s.Radius == 0 && s.Preconditioned {
		s.model.residual.CopyFrom(s.Grad)
		s.Radius = math.Sqrt(math.Max(0, s.model.precondition(e, s)))
	}
	if !(s.Radius > 0) {
		s.Radius = math.Sqrt(float64(framework.Product(e.Blocks()).Dim())) / 8
	}
	s.FirstRadius = s.Radius
	return nil
}

// try evaluates the end of the step and returns the ratio of actual to predicted
// decrease.
func (s *TrustRegionState) try(e *framework.Evaluator) (float64, error) {
	blocks := e.Blocks()
	for k, b := range blocks {
		if b.Retract(s.trial[k], s.X[k], s.model.step[k]) != nil {
			return math.Inf(-1), nil
		}
	}
	_, resumes := framework.As[resumer](e.Problem())
	var grad framework.Point
	if !resumes {
		grad = s.trialEuclidean
	}
	cost, err := e.Evaluate(grad, s.trial)
	if err != nil || math.IsInf(cost, 0) {
		return math.Inf(-1), err
	}
	s.model.cost = cost
	actual := s.Cost - cost
	near := s.model.decrease <= nearRounding*math.Abs(s.Cost)
	if near && actual < -costNoise*math.Abs(s.Cost) {
		return math.Inf(-1), nil
	}
	if !near && !(actual > acceptedDecrease*s.model.decrease) {
		return actual / s.model.decrease, nil
	}
	if resumes {
		if _, err := e.Gradient(s.trialEuclidean, s.trial); err != nil {
			return 0, err
		}
	}
	s.trialGrad.CopyFrom(s.trialEuclidean)
	framework.Product(blocks).Gradient(s.trialGrad, s.trial, s.trialGrad)
	if near {
		actual = -(inner(blocks, s.X, s.Grad, s.model.step) + s.endSlope(blocks)) / 2
	}
	return actual / s.model.decrease, nil
}

// endSlope is the slope at the trial along the step.
func (s *TrustRegionState) endSlope(blocks []framework.Block) float64 {
	var slope float64
	for k, b := range blocks {
		b.Transport(s.model.work[k], s.X[k], s.trial[k], s.model.step[k])
		slope += b.Inner(s.trial[k], s.trialGrad[k], s.model.work[k])
	}
	return slope
}

// accept moves to the trial.
func (s *TrustRegionState) accept(blocks []framework.Block) {
	s.LastNorm = math.Sqrt(inner(blocks, s.X, s.Grad, s.Grad))
	s.X, s.trial = s.trial, s.X
	s.Grad, s.trialGrad = s.trialGrad, s.Grad
	s.Euclidean, s.trialEuclidean = s.trialEuclidean, s.Euclidean
	s.Cost = s.model.cost
	s.Preconditioned = false
}
