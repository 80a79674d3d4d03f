package frameworktest

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// productTolerance is the relative error up to which products may be differences of
// something.
const productTolerance = 1e-6

// checkIntrinsic tries the laws of second derivatives on the manifolds, and of
// Gauss-Newton products.
func (c *problemCheck) checkIntrinsic(r *Report) {
	if h, ok := c.p.(framework.IntrinsicHessian); ok {
		r.try("intrinsic hessian symmetric", func() error { return c.selfAdjoint(h.IntrinsicHessianProduct) })
		if c.hasGeodesics() {
			r.try("intrinsic hessian slope", func() error { return c.intrinsicSlope(h) })
		} else {
			r.add("intrinsic hessian slope", true, "not checked: a block has neither a retraction of second order nor geodesics")
		}
	}
	if g, ok := c.p.(framework.GaussNewton); ok {
		r.try("gauss-newton symmetric", func() error {
			return c.selfAdjoint(func(dst, x, v framework.Point) error {
				if err := g.GaussNewtonProduct(dst, x, v); err != nil {
					return err
				}
				for k, b := range c.blocks {
					b.Gradient(dst[k], x[k], dst[k])
				}
				return nil
			})
		})
	}
}

// selfAdjoint tries that a product writes tangent vectors, and <u, H v> = <H u, v> in
// the metric.
func (c *problemCheck) selfAdjoint(product func(dst, x, v framework.Point) error) error {
	u, v := c.directions(), c.directions()
	hu, hv := c.poisoned(), c.poisoned()
	if err := product(hu, c.x, u); err != nil {
		return err
	}
	if err := product(hv, c.x, v); err != nil {
		return err
	}
	if !hu.Finite() || !hv.Finite() {
		return fmt.Errorf("some of the product is not written or not finite")
	}
	var left, right, size float64
	for k, b := range c.blocks {
		flat := make([]float64, len(hv[k]))
		b.Project(flat, c.x[k], hv[k])
		floats.Sub(flat, hv[k])
		if off := floats.Norm(flat, 2); !(off <= productTolerance*floats.Norm(hv[k], 2)) {
			return fmt.Errorf("the product of block %s is off the tangent space by %g", b.Name, off)
		}
		left += b.Inner(c.x[k], u[k], hv[k])
		right += b.Inner(c.x[k], hu[k], v[k])
		size += b.Norm(c.x[k], u[k])*b.Norm(c.x[k], hv[k]) + b.Norm(c.x[k], hu[k])*b.Norm(c.x[k], v[k])
	}
	if !(math.Abs(left-right) <= productTolerance*size) {
		return fmt.Errorf("<u, H v> is %v and <H u, v> is %v", left, right)
	}
	return nil
}

// hasGeodesics reports whether secondOrderCurve knows one on every block.
func (c *problemCheck) hasGeodesics() bool {
	for _, b := range c.blocks {
		o, ordered := b.Manifold.(framework.RetractionOrder)
		if _, ok := b.Manifold.(framework.Exper); !ok && !(ordered && o.RetractionOrder() >= 2) {
			return false
		}
	}
	return true
}

// secondOrderCurve writes a point of a curve through x along v that has no acceleration
// there.
func secondOrderCurve(b framework.Block, dst, x, v []float64) error {
	if _, ok := b.Manifold.(framework.Exper); ok {
		return b.Exp(dst, x, v)
	}
	return b.Retract(dst, x, v)
}

// intrinsicSlope tries the remainder of second order of the cost along geodesics.
func (c *problemCheck) intrinsicSlope(p framework.IntrinsicHessian) error {
	grad, h := c.poisoned(), c.poisoned()
	cost, err := c.p.Evaluate(grad, c.x)
	if err != nil {
		return err
	}
	trial, move := c.x.Clone(), c.x.Clone()
	slope, err := bestSlope(3, func() (Slope, error) {
		v := c.directions()
		if err := p.IntrinsicHessianProduct(h, c.x, v); err != nil {
			return Slope{}, err
		}
		first, second := 0., 0.
		for k, b := range c.blocks {
			first += floats.Dot(grad[k], v[k])
			second += b.Inner(c.x[k], v[k], h[k])
		}
		return TaylorSlope(func(t float64) (float64, float64, error) {
			for k, b := range c.blocks {
				floats.ScaleTo(move[k], t, v[k])
				if err := secondOrderCurve(b, trial[k], c.x[k], move[k]); err != nil {
					return 0, 0, err
				}
			}
			now, err := c.p.Evaluate(nil, trial)
			return math.Abs(now - cost - t*(first+t*second/2)), math.Abs(now) + math.Abs(cost), err
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
