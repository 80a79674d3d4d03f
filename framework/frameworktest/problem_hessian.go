package frameworktest

import (
	"context"
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
)

// checkHessian tests the Hessian that solvers get from the evaluator. It must be symmetric in the metric. <v, Hess F
// v> must be the second derivative along a curve without acceleration: the geodesic or a second-order retraction. If
// a manifold offers neither, the latter is not checked.
func (c *problemCheck) checkHessian(r *Report) {
	if !framework.NewEvaluator(context.Background(), c.p).HasHessian() {
		r.add("hessian", true, "not checked: a manifold does not convert second derivatives")
		return
	}
	r.try("hessian symmetric", func() error {
		h, err := c.riemannian()
		if err != nil {
			return err
		}
		return c.selfAdjoint(h.m, h.tolerance, func(dst, _, v framework.Point) error {
			hv, err := h.product(v)
			if err == nil {
				dst.CopyFrom(hv)
			}
			return err
		})
	})
	if _, ok := c.unaccelerated(); !ok {
		r.add("hessian slope", true, "not checked: a manifold has neither an exponential map nor a retraction of second order")
		return
	}
	r.try("hessian slope", c.hessianSlope)
}

// riemannian is a problem with second derivatives at the point of a problemCheck.
type riemannian struct {
	*problemCheck
	e         *framework.Evaluator
	m         framework.Product
	grad      framework.Point
	cost      float64
	tolerance float64 // of products
}

// riemannian evaluates the problem with its current settings.
func (c *problemCheck) riemannian() (h *riemannian, err error) {
	e := framework.NewEvaluator(context.Background(), c.p)
	h = &riemannian{problemCheck: c, e: e, m: c.blocks, grad: c.poisoned(), tolerance: 1e-10}
	if _, ok := c.p.(intrinsicHessian); ok {
		h.tolerance = productTolerance
	}
	h.cost, err = e.Evaluate(h.grad, c.x)
	return h, err
}

// product returns the Hessian along v, which must be tangent.
func (h *riemannian) product(v framework.Point) (framework.Point, error) {
	dst := h.poisoned()
	if err := h.e.Hessian(dst, h.x, h.grad, v); err != nil {
		return nil, err
	}
	tangent := dst.Clone()
	h.m.Project(tangent, h.x, dst)
	tangent.AddScaled(-1, dst)
	if !(tangent.Norm() <= max(1e-9, h.tolerance)*(1+dst.Norm())) {
		return nil, fmt.Errorf("the product leaves the tangent space by %g", tangent.Norm())
	}
	return dst, nil
}

// unaccelerated returns a map that moves along curves without acceleration, block by block, if every manifold has
// one.
func (c *problemCheck) unaccelerated() (move func(dst, x, v framework.Point) error, ok bool) {
	steps := make([]func(dst, x, v []float64) error, len(c.blocks))
	for k, b := range c.blocks {
		second, has := b.Manifold.(retractionOrder)
		switch _, exact := b.Manifold.(framework.Exper); {
		case exact:
			steps[k] = b.Exp
		case has && second.RetractionOrder() >= 2:
			steps[k] = b.Retract
		default:
			return nil, false
		}
	}
	return func(dst, x, v framework.Point) error {
		for k, step := range steps {
			if err := step(dst[k], x[k], v[k]); err != nil {
				return fmt.Errorf("block %s: %w", c.blocks[k].Name, err)
			}
		}
		return nil
	}, true
}

// hessianSlope tests the second-order remainder along curves without acceleration, if there are any.
func (c *problemCheck) hessianSlope() error {
	move, ok := c.unaccelerated()
	h, err := c.riemannian()
	if err != nil || !ok {
		return err
	}
	trial, step := h.x.Clone(), h.x.Clone()
	slope, err := bestSlope(3, func() (Slope, error) {
		v := h.directions()
		hv, err := h.product(v)
		if err != nil {
			return Slope{}, err
		}
		// The Euclidean gradient pairs with tangent vectors as the Riemannian one
		// does in the metric.
		first, second := h.grad.Dot(v), h.m.Inner(h.x, v, hv)
		return TaylorSlope(func(t float64) (float64, float64, error) {
			step.CopyFrom(v)
			step.Scale(t)
			if err := move(trial, h.x, step); err != nil {
				return 0, 0, err
			}
			now, err := h.p.Evaluate(nil, trial)
			size := math.Abs(now) + math.Abs(h.cost) + h.grad.Norm()*h.x.Norm()
			return math.Abs(now - h.cost - t*first - t*t*second/2), size, err
		})
	})
	if err != nil {
		return err
	}
	if !slope.AtLeast(3) {
		return fmt.Errorf("slope %v, want 3: the Hessian is wrong, lacks the curvature of the manifold, or the cost has a kink near here", slope)
	}
	return nil
}

// directions returns a random tangent vector with all blocks.
func (c *problemCheck) directions() framework.Point {
	v := framework.NewPoint(c.blocks)
	for k := range v {
		v[k] = c.direction(k)
	}
	return v
}
