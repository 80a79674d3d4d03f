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

// checkGaussNewton tries the law of Gauss-Newton products.
func (c *problemCheck) checkGaussNewton(r *Report) {
	g, ok := c.p.(framework.GaussNewton)
	if !ok {
		return
	}
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
