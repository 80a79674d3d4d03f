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
	case s.Newton.due(s.norm(e.Blocks())):
		kind, err = newtonStep, s.newtonDirection(e)
	default:
		return quasiNewtonStep, s.direction(e), nil
	}
	return kind, inner(e.Blocks(), s.X, s.Grad, s.dir), err
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
// the quasi-Newton matrix as their preconditioner.
func (s *LBFGSState) newtonDirection(e *framework.Evaluator) error {
	_, err := s.truncated(e, s.Newton.Most, math.Inf(1), func(dst, v framework.Point) { s.quasiNewton(e, dst, v) })
	return err
}

// truncated writes a truncated Newton step no longer than radius into dir, by conjugate
// gradients; precondition writes minus the preconditioned v into dst. They end after
// most products, at the radius, where the curvature is not positive, and at a residual of
//
//	|g| min(sqrt(|g| / |g_0|), 1/10)
//
// with g_0 the gradient at the start, for convergence of order 3/2. It returns how the
// step ended: at a finite radius, it goes there along negative curvature.
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
	goal := norm * math.Min(innerReduction, math.Sqrt(norm/s.Newton.First))
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
