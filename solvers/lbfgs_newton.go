package solvers

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

const (
	// firstWait is the number of passes of quasi-Newton steps before the first Newton step, and vainShare
	// bounds the share of passes spent on Newton steps that do not pay.
	firstWait, vainShare = 20, 0.25
	// differenceWait is firstWait where products are differences of gradients: so long do
	// quasi-Newton steps take where they crawl.
	differenceWait = 200
	// leastProducts bounds the Hessian products in the first Newton step, and newtonReduction is the least
	// reduction factor of their residual.
	leastProducts, newtonReduction = 16, 0.2
)

// NewtonPlan chooses between Newton and quasi-Newton steps of [LBFGS] by their gain per pass: the decreases of the
// cost and of the logarithm of the gradient norm. Far from a minimum the cost is informative, as gradients of
// ill-conditioned costs grow on good steps; near a minimum the gradient norm is.
type NewtonPlan struct {
	// Fall and Gain are the decreases of the cost and of the logarithm of the gradient norm, and Passes the
	// passes, of quasi-Newton steps since the last Newton step; FallRate and Rate are the decreases per pass
	// before it.
	Fall, Gain, Passes, FallRate, Rate float64
	// Wait is the number of passes of quasi-Newton steps before the next Newton step, and Most bounds the Hessian
	// products of that step. Most is 0 before the first step.
	Wait, Most float64
	// Last is the norm of the gradient before the last step, 0 at the start.
	Last float64
}

// progress is the gain of a step: the decrease of the cost, from the slopes at both ends of the step, and of
// the logarithm of the gradient norm. Differences of costs would add no information, but rounding errors of
// constants in them.
type progress struct{ cost, gradient, passes float64 }

// due reports whether the next step is a Newton step.
func (p *NewtonPlan) due(wait float64) bool {
	if p.Most == 0 {
		p.Wait, p.Most = wait, leastProducts
	}
	if p.Passes < p.Wait {
		return false
	}
	if p.Passes > 0 {
		p.FallRate, p.Rate = math.Max(0, p.Fall/p.Passes), math.Max(0, p.Gain/p.Passes)
	}
	return true
}

// learn records the gain of a step. If a Newton step gains more per pass than the quasi-Newton steps before it,
// another one follows, with twice as many products; otherwise quasi-Newton steps do. The cost decrease of a
// shortened Newton step does not count, as its model was not valid.
func (p *NewtonPlan) learn(kind stepKind, shortened bool, gained progress) {
	switch {
	case kind == quasiNewtonStep:
		p.Fall, p.Gain, p.Passes = p.Fall+gained.cost, p.Gain+gained.gradient, p.Passes+gained.passes
		return
	case gained.gradient > p.Rate*gained.passes, !shortened && gained.cost > p.FallRate*gained.passes:
		p.Wait, p.Most = 0, 2*p.Most
	default:
		p.Wait, p.Most = math.Max(firstWait, gained.passes/vainShare), math.Max(leastProducts, p.Most/2)
	}
	p.Fall, p.Gain, p.Passes = 0, 0, 0
}

// takesNewtonSteps reports whether the problem has what Newton steps need: second derivatives,
// or no measure of its own and so, as far as is known, no kinks.
func (a LBFGS) takesNewtonSteps(e *framework.Evaluator) bool {
	_, conditioned := framework.As[framework.Preconditioner](e.Problem())
	_, own := framework.As[framework.Certifier](e.Problem())
	return !a.FirstOrder && !conditioned && (e.HasHessian() || !own)
}

// wait is the number of passes of quasi-Newton steps before the first Newton step.
func wait(e *framework.Evaluator) float64 {
	if e.HasHessian() {
		return firstWait
	}
	return differenceWait
}

// stepKind says where the direction of a step of [LBFGS] comes from.
type stepKind int

const (
	quasiNewtonStep stepKind = iota
	newtonStep
	regionStep // of a trust region
)

// choose computes the next direction into dir and returns its kind and its slope.
func (s *LBFGSState) choose(e *framework.Evaluator) (kind stepKind, slope float64, err error) {
	switch {
	case s.Euclidean == nil:
		return quasiNewtonStep, s.direction(e), nil
	case s.Length.Region:
		kind, err = regionStep, s.regionDirection(e)
	case s.Newton.due(wait(e)):
		kind, err = newtonStep, s.newtonDirection(e)
	default:
		return quasiNewtonStep, s.direction(e), nil
	}
	return kind, inner(e.Blocks(), s.X, s.Grad, s.dir), err
}

// norm is the norm of the gradient.
func (s *LBFGSState) norm(blocks []framework.Block) float64 {
	return math.Sqrt(inner(blocks, s.X, s.Grad, s.Grad))
}

// conjugate holds the buffers of the conjugate gradient method.
type conjugate struct{ residual, z, dir, product framework.Point }

func (c *conjugate) allocate(blocks []framework.Block) {
	if c.z != nil {
		return
	}
	for _, p := range []*framework.Point{&c.residual, &c.z, &c.dir, &c.product} {
		*p = framework.NewPoint(blocks)
	}
}

// newtonDirection writes a truncated Newton step into dir, by conjugate gradients with
// the quasi-Newton matrix as their preconditioner.
func (s *LBFGSState) newtonDirection(e *framework.Evaluator) error {
	_, err := s.truncated(e, s.Newton.Most, math.Inf(1), func(dst, v framework.Point) { s.quasiNewton(e, dst, v) })
	return err
}

// truncated writes a truncated Newton step no longer than radius into dir, by conjugate
// gradients; precondition writes minus the preconditioned v into dst. They end after
// most products, at the radius, where the curvature is not positive, and at a residual of
//
//	|g| min((|g| / |g_|)^(3/2), 1/5)
//
// with g_ the gradient before the last step, of either kind, for convergence of order 3/2 (the second choice of
// Eisenstat and Walker). It returns how the step ended. If radius is finite, a direction of negative curvature is
// followed to the radius.
func (s *LBFGSState) truncated(e *framework.Evaluator, most, radius float64, precondition func(dst, v framework.Point)) (stepEnd, error) {
	c, blocks := &s.conjugate, e.Blocks()
	c.allocate(blocks)
	for k := range s.dir {
		clear(s.dir[k])
	}
	c.residual.CopyFrom(s.Grad)
	precondition(c.dir, c.residual)
	rz := -inner(blocks, s.X, c.residual, c.dir)
	norm := s.norm(blocks)
	goal := norm * newtonReduction
	if s.Newton.Last > 0 {
		goal = norm * math.Min(newtonReduction, math.Pow(norm/s.Newton.Last, innerOrder))
	}
	for i := 0.; i < most && rz > 0; i++ {
		if err := e.Hessian(c.product, s.X, s.Euclidean, c.dir); err != nil {
			return within, err
		}
		curvature := inner(blocks, s.X, c.dir, c.product)
		if end := s.boundary(blocks, rz/curvature, radius); end != within {
			if i == 0 && math.IsInf(radius, 1) {
				s.dir.CopyFrom(c.dir)
			}
			return end, nil
		}
		addScaled(s.dir, rz/curvature, c.dir)
		addScaled(c.residual, rz/curvature, c.product)
		for k, b := range blocks {
			b.Project(c.residual[k], s.X[k], c.residual[k])
		}
		if math.Sqrt(inner(blocks, s.X, c.residual, c.residual)) <= goal {
			break
		}
		precondition(c.z, c.residual)
		next := -inner(blocks, s.X, c.residual, c.z)
		for k := range c.dir {
			floats.Scale(next/rz, c.dir[k])
		}
		addScaled(c.dir, 1, c.z)
		rz = next
	}
	return within, nil
}
