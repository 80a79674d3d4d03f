package solvers

import (
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

// Newton is Newton's method with the inner rows eliminated, for problems whose Hessian is an arrowhead matrix
// ([latent.ArrowheadHessian]). With its g, g_i, A, B_i, C_i, an iteration solves
//
//	S dy = -(g - sum_i B_i |C_i|^-1 g_i),   S = A - sum_i B_i |C_i|^-1 B_i',
//	dt_i = -|C_i|^-1 (g_i + B_i' dy),
//
// with |C| the matrix with the magnitudes of the eigenvalues of C. S, scaled to unit diagonal of A, has
// Levenberg-Marquardt damping: mu times its size. mu follows the ratio of actual to predicted decrease. If S is
// indefinite, its eigenvalues are replaced by their magnitudes too, so that saddle points repel. After every move the
// rows take an inner step ([latent.ArrowheadHessian.InnerStep]), which the actual decrease includes. A null space of
// S, as from transformations that do not change the cost, is harmless.
//
// It rejects a problem without such derivatives, or one too large for them ([framework.UnsupportedError]).
//
// Sources: B. Triggs, P. McLauchlan, R. Hartley, A. Fitzgibbon, Bundle
// adjustment - a modern synthesis (2000), for the elimination; H. B. Nielsen,
// Damping parameter in Marquardt's method (1999), for mu; Y. Dauphin et al.,
// Identifying and attacking the saddle point problem in high-dimensional
// non-convex optimization (2014), for the magnitudes.
//
// The zero value is ready to use.
type Newton struct{}

const (
	// firstDamping is the first mu, relative to the size of the scaled Schur complement.
	firstDamping = 1e-2
	// maxDamping is the damping above which no step is tried.
	maxDamping = 1e16
)

// Name returns "newton".
func (Newton) Name() string { return "newton" }

// Lacks implements [framework.Solver].
func (Newton) Lacks(p framework.Problem) string {
	a, ok := framework.As[latent.ArrowheadHessian](p)
	if !ok {
		return "second derivatives in the shape of an arrowhead (ArrowheadHessian)"
	}
	if _, fits := a.ArrowheadShape(); !fits {
		return "second derivatives that are small enough"
	}
	return ""
}

// NewState returns an empty state for a stored run.
func (Newton) NewState() framework.State { return &NewtonState{} }

// Init computes the derivatives at the start.
func (a Newton) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	if err := Supports(a, e.Problem()); err != nil {
		return nil, err
	}
	shape, _ := latent.ShapeOf(e)
	s := &NewtonState{X: x}
	s.allocate(e, shape)
	return s, a.Restart(e, s, x)
}

// Restart starts a run from x, which it copies, reusing the memory of a state that Init made for the same
// blocks.
func (Newton) Restart(e *framework.Evaluator, state framework.State, x framework.Point) (err error) {
	s := state.(*NewtonState)
	s.X.CopyFrom(x)
	s.Mu, s.Nu = firstDamping, 2
	s.Cost, err = s.assemble(e)
	return err
}

// Resume computes the derivatives of a stored run again.
func (s *NewtonState) Resume(e *framework.Evaluator) error {
	if err := Supports(Newton{}, e.Problem()); err != nil {
		return err
	}
	shape, _ := latent.ShapeOf(e)
	s.allocate(e, shape)
	if !s.Assembled {
		return nil
	}
	_, err := s.assemble(e)
	return err
}

// Step moves all blocks once, raising the damping until a step is accepted.
func (Newton) Step(e *framework.Evaluator, state framework.State) error {
	s := state.(*NewtonState)
	if !s.Assembled {
		if _, err := s.assemble(e); err != nil {
			return err
		}
	}
	for s.Mu <= maxDamping {
		predicted := s.schur.solve(s.Mu)
		cost, err := s.try(e)
		if err != nil {
			return err
		}
		if s.accept(cost, predicted) {
			return nil
		}
		if predicted <= 0x1p-53*math.Abs(s.Cost) {
			break // nothing to gain, and no shorter step would gain more
		}
		s.Mu = max(s.Mu, minDamping) * s.Nu
		s.Nu *= 2
	}
	s.Mu, s.Nu = firstDamping, 2
	return framework.ErrNoProgress
}
