package solvers

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

const (
	// firstWait is the number of passes of quasi-Newton steps before a Newton step is
	// tried, and vainShare the share of all passes that those may take in vain.
	firstWait, vainShare = 20, 0.25
	// leastProducts bounds the products with the Hessian in the first Newton step.
	leastProducts = 16
)

// NewtonPlan compares what two kinds of steps of [LBFGS] gain: the fall of the logarithm
// of the gradient norm per pass.
type NewtonPlan struct {
	// Gain and Passes are those of the quasi-Newton steps since the last Newton step,
	// and Rate is their ratio before the last Newton steps.
	Gain, Passes, Rate float64
	// Wait is the number of passes of quasi-Newton steps before the next Newton step,
	// whose products with the Hessian Most bounds. It is 0 before the first step.
	Wait, Most float64
	// First is the norm of the first gradient.
	First float64
}

// due reports whether the next step is a Newton step; norm is that of the gradient.
func (p *NewtonPlan) due(norm float64) bool {
	if p.Most == 0 {
		p.Wait, p.Most, p.First = firstWait, leastProducts, norm
	}
	if p.Passes < p.Wait {
		return false
	}
	if p.Passes > 0 {
		p.Rate = math.Max(0, p.Gain/p.Passes)
	}
	return true
}

// learn notes what a step has gained: more Newton steps with twice as many products
// follow one that gained more per pass than the quasi-Newton steps before.
func (p *NewtonPlan) learn(newton bool, gain, passes float64) {
	switch {
	case !newton:
		p.Gain, p.Passes = p.Gain+gain, p.Passes+passes
		return
	case gain > p.Rate*passes:
		p.Wait, p.Most = 0, 2*p.Most
	default:
		p.Wait, p.Most = math.Max(firstWait, passes/vainShare), math.Max(leastProducts, p.Most/2)
	}
	p.Gain, p.Passes = 0, 0
}

// takesNewtonSteps reports whether the problem has what Newton steps need.
func (a LBFGS) takesNewtonSteps(e *framework.Evaluator) bool {
	_, conditioned := e.Problem().(framework.Preconditioner)
	return !a.FirstOrder && !conditioned && e.HasHessian()
}

// choose computes the next direction into dir and returns its slope, and whether it is
// that of a Newton step.
func (s *LBFGSState) choose(e *framework.Evaluator) (slope float64, newton bool, err error) {
	if s.Euclidean == nil || !s.Newton.due(s.norm(e.Blocks())) {
		return s.direction(e), false, nil
	}
	err = s.newtonDirection(e)
	return inner(e.Blocks(), s.X, s.Grad, s.dir), true, err
}

// norm is that of the gradient.
func (s *LBFGSState) norm(blocks []framework.Block) float64 {
	return math.Sqrt(inner(blocks, s.X, s.Grad, s.Grad))
}

// conjugate is the memory of the conjugate gradient method.
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
// the quasi-Newton matrix as their preconditioner. They end at a residual of
//
//	|g| min(sqrt(|g| / |g_0|), 1/10)
//
// with g_0 the gradient at the start, for convergence of order 3/2, or where the
// curvature is not positive.
func (s *LBFGSState) newtonDirection(e *framework.Evaluator) error {
	c, blocks := &s.conjugate, e.Blocks()
	c.allocate(blocks)
	for k := range s.dir {
		clear(s.dir[k])
	}
	c.residual.CopyFrom(s.Grad)
	s.quasiNewton(e, c.dir, c.residual)
	rz := -inner(blocks, s.X, c.residual, c.dir)
	norm := s.norm(blocks)
	goal := norm * math.Min(innerReduction, math.Sqrt(norm/s.Newton.First))
	for i := 0.; i < s.Newton.Most && rz > 0; i++ {
		if err := e.Hessian(c.product, s.X, s.Euclidean, c.dir); err != nil {
			return err
		}
		curvature := inner(blocks, s.X, c.dir, c.product)
		if !(curvature > 0) {
			if i == 0 {
				s.dir.CopyFrom(c.dir)
			}
			return nil
		}
		addScaled(s.dir, rz/curvature, c.dir)
		addScaled(c.residual, rz/curvature, c.product)
		for k, b := range blocks {
			b.Project(c.residual[k], s.X[k], c.residual[k])
		}
		if math.Sqrt(inner(blocks, s.X, c.residual, c.residual)) <= goal {
			return nil
		}
		s.quasiNewton(e, c.z, c.residual)
		next := -inner(blocks, s.X, c.residual, c.z)
		for k := range c.dir {
			floats.Scale(next/rz, c.dir[k])
		}
		addScaled(c.dir, 1, c.z)
		rz = next
	}
	return nil
}
