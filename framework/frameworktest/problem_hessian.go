package frameworktest

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
)

// hessianSymmetric tries the symmetry of the Hessian in the surrounding space.
func (c *problemCheck) hessianSymmetric(p framework.TwiceDifferentiable) error {
	around := make(framework.Product, len(c.blocks))
	for k, b := range c.blocks {
		around[k].Manifold = manifolds.Euclidean(b.Size())
	}
	return c.selfAdjoint(around, 1e-10, p.HessianProduct)
}

// hessianSlope tries the remainder of second order of the cost along retracted lines
// through all blocks. The expansion is that of the surrounding space in the step
// R(t v) - x, so that any retraction will do.
func (c *problemCheck) hessianSlope(p framework.TwiceDifferentiable) error {
	grad := c.poisoned()
	cost, err := c.p.Evaluate(grad, c.x)
	if err != nil {
		return err
	}
	trial, move, h := c.x.Clone(), c.x.Clone(), c.poisoned()
	slope, err := bestSlope(3, func() (Slope, error) {
		v := c.directions()
		return TaylorSlope(func(t float64) (float64, float64, error) {
			for k, b := range c.blocks {
				floats.ScaleTo(move[k], t, v[k])
				if err := b.Retract(trial[k], c.x[k], move[k]); err != nil {
					return 0, 0, err
				}
				floats.SubTo(move[k], trial[k], c.x[k])
			}
			now, err := c.p.Evaluate(nil, trial)
			if err != nil {
				return 0, 0, err
			}
			if err := p.HessianProduct(h, c.x, move); err != nil {
				return 0, 0, err
			}
			expected, size := cost, math.Abs(cost)+math.Abs(now)
			for k := range move {
				first := floats.Dot(grad[k], move[k])
				expected += first + floats.Dot(h[k], move[k])/2
				size += floats.Norm(grad[k], 2) * floats.Norm(move[k], 2)
			}
			return math.Abs(now - expected), size, nil
		})
	})
	if err != nil {
		return err
	}
	if !slope.AtLeast(3) {
		return fmt.Errorf("slope %v, want 3: the Hessian is wrong, or the cost has a kink near here", slope)
	}
	return nil
}

// directions is a random tangent vector through all blocks.
func (c *problemCheck) directions() framework.Point {
	v := framework.NewPoint(c.blocks)
	for k := range v {
		v[k] = c.direction(k)
	}
	return v
}
