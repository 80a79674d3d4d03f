package solvers

import (
	"math"

	"github.com/scqm/scqm/framework"
)

const (
	// firstWait is the number of passes of quasi-Newton steps before the first Newton step. differenceWait is that
	// number if Hessian products are differences of gradients: quasi-Newton steps that take longer are slow.
	firstWait, differenceWait = 20, 200
	// vainShare bounds the fraction of passes spent on Newton steps that do not pay.
	vainShare = 0.25
	// leastProducts bounds the Hessian products of the first Newton step.
	leastProducts = 16
)

// NewtonPlan chooses between Newton and quasi-Newton steps of [LBFGS] by their gain per pass, the decrease of the
// logarithm of the gradient norm.
type NewtonPlan struct {
	// Gain is the gain and Passes are the passes of quasi-Newton steps since the last Newton step in vain.
	Gain, Passes float64
	// Wait is the number of these passes before the next Newton step, and Most bounds the products of that step.
	Wait float64
	Most int
	// Last is the norm of the gradient before the last step, 0 at the start.
	Last float64
}

// due reports whether the next step is a Newton step.
func (p *NewtonPlan) due() bool { return p.Passes >= p.Wait }

// learn records the gain of a step. If a Newton step gains more per pass than the quasi-Newton steps before it,
// another one follows, with twice as many products; otherwise quasi-Newton steps do.
func (p *NewtonPlan) learn(newton bool, gain, passes float64) {
	switch {
	case !newton:
		p.Gain, p.Passes = p.Gain+gain, p.Passes+passes
	case gain > math.Max(0, p.Gain/p.Passes)*passes:
		p.Wait, p.Most = 0, 2*p.Most
	default:
		p.Gain, p.Passes = 0, 0
		p.Wait, p.Most = math.Max(firstWait, passes/vainShare), max(leastProducts, p.Most/2)
	}
}

// takesNewtonSteps reports whether the problem has what Newton steps need: second derivatives,
// or no measure of its own and so, as far as is known, no kinks.
func (a LBFGS) takesNewtonSteps(e *framework.Evaluator) bool {
	_, conditioned := framework.As[framework.Preconditioner](e.Problem())
	_, own := framework.As[framework.Certifier](e.Problem())
	return !a.FirstOrder && !conditioned && (e.HasHessian() || !own)
}

// enriched does a quasi-Newton or Newton step, whichever is due, and reports whether it moved.
func (a LBFGS) enriched(e *framework.Evaluator, s *LBFGSState) (bool, error) {
	if s.Euclidean == nil {
		return a.advance(e, s)
	}
	before, passes, newton := s.norm(e.Blocks()), e.Counts().Passes, s.Newton.due()
	if newton {
		if err := s.newtonDirection(e); err != nil {
			return false, err
		}
	} else {
		s.quasiNewton(e, s.dir, s.Grad)
	}
	moved, err := a.search(e, s, newton)
	if err != nil {
		return false, err
	}
	s.Newton.Last = before
	s.Newton.learn(newton, math.Log(before/s.norm(e.Blocks())), e.Counts().Passes-passes)
	if newton && !moved {
		return a.advance(e, s)
	}
	return moved, nil
}

// newtonDirection writes a truncated Newton step into dir, by conjugate gradients with
// the quasi-Newton matrix as their preconditioner.
func (s *LBFGSState) newtonDirection(e *framework.Evaluator) error {
	return s.model.minimise(e.Blocks(), s.dir, s.X, s.Grad, subproblem{
		multiply:     func(dst, v framework.Point) error { return e.Hessian(dst, s.X, s.Euclidean, v) },
		precondition: func(dst, v framework.Point) { s.quasiNewton(e, dst, v); negate(dst, dst) },
		most:         s.Newton.Most, radius: math.Inf(1), last: s.Newton.Last,
	})
}
