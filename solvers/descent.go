package solvers

import (
	"math"

	"github.com/scqm/scqm/framework"
)

// refreshEvery is the number of iterations after which a preconditioner is rebuilt.
const refreshEvery = 10

// Descent is the common state of methods that move all blocks at once along directions made of gradients: [LBFGS],
// [ConjugateGradient] and [TrustRegion].
type Descent struct {
	X    framework.Point
	Cost float64
	// Grad is the Riemannian gradient at X. Euclidean is that of the surrounding space, for products with the
	// Hessian; nil where there are none.
	Grad, Euclidean framework.Point
	// Anchor is the point at which the problem's current preconditioner was built, nil without one. Age is the number
	// of iterations since then.
	Anchor framework.Point
	Age    int

	line
}

// Iterate returns the current point and its cost.
func (s *Descent) Iterate() (framework.Point, float64) { return s.X, s.Cost }

// Gradient returns the Riemannian gradient at the iterate.
func (s *Descent) Gradient() framework.Point { return s.Grad }

// Resume builds the preconditioner of a stored run again.
func (s *Descent) Resume(e *framework.Evaluator) error {
	if s.Anchor == nil {
		return nil
	}
	_, err := e.BuildPreconditioner(s.Anchor)
	return err
}

// start evaluates the start and its gradient; products says that products with the Hessian are to come.
func (s *Descent) start(e *framework.Evaluator, x framework.Point, products bool) (err error) {
	s.X, s.Grad = x, framework.NewPoint(e.Blocks())
	if s.Cost, err = e.Evaluate(s.Grad, x); err != nil {
		return err
	}
	if products {
		s.Euclidean = s.Grad.Clone()
	}
	framework.Product(e.Blocks()).Gradient(s.Grad, x, s.Grad)
	return nil
}

// prepare allocates the fields that are not stored.
func (s *Descent) prepare(e *framework.Evaluator) {
	s.allocate(e.Blocks())
	if s.Euclidean != nil && s.trial.euclidean == nil {
		s.trial.euclidean = framework.NewPoint(e.Blocks())
	}
}

// refresh rebuilds the preconditioner if it is missing or too old, and reports whether it did.
func (s *Descent) refresh(e *framework.Evaluator) (bool, error) {
	if s.Anchor != nil && s.Age < refreshEvery {
		return false, nil
	}
	ok, err := e.BuildPreconditioner(s.X)
	if err != nil || !ok {
		return false, err
	}
	if s.Anchor == nil {
		s.Anchor = s.X.Clone()
	}
	s.Anchor.CopyFrom(s.X)
	s.Age = 0
	return true, nil
}

// precondition writes P H g into dst, for the gradient g at x and the preconditioner H, if there is one.
func (s *Descent) precondition(e *framework.Evaluator, dst, x, g framework.Point) {
	if s.Anchor == nil {
		dst.CopyFrom(g)
		return
	}
	e.Precondition(dst, g)
	framework.Product(e.Blocks()).Project(dst, x, dst)
}

// norm is the norm of the gradient.
func (s *Descent) norm(blocks []framework.Block) float64 {
	return math.Sqrt(inner(blocks, s.X, s.Grad, s.Grad))
}

// take moves to the trial point.
func (s *Descent) take() {
	s.X, s.trial.x = s.trial.x, s.X
	s.Grad, s.trial.grad = s.trial.grad, s.Grad
	s.Euclidean, s.trial.euclidean = s.trial.euclidean, s.Euclidean
	s.Cost = s.trial.cost
	s.Age++
}
