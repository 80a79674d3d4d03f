package frameworktest

import (
	"errors"
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
)

// productTolerance is the largest relative error of products, which may be computed by differences.
const productTolerance = 1e-6

// checkGaussNewton checks that Gauss-Newton products are symmetric.
func (c *problemCheck) checkGaussNewton(r *Report) {
	g, ok := c.p.(framework.GaussNewton)
	if !ok {
		return
	}
	r.try("gauss-newton symmetric", func() error {
		return c.selfAdjoint(c.blocks, productTolerance, func(dst, x, v framework.Point) error {
			if err := g.GaussNewtonProduct(dst, x, v); err != nil {
				return err
			}
			framework.Product(c.blocks).Gradient(dst, x, dst)
			return nil
		})
	})
}

// selfAdjoint tests <u, H v> = <H u, v> in the inner product of m, whose blocks have the sizes of the problem's
// blocks.
func (c *problemCheck) selfAdjoint(m framework.Product, tolerance float64, product func(dst, x, v framework.Point) error) error {
	u, v := c.directions(), c.directions()
	hu, hv := c.poisoned(), c.poisoned()
	if err := errors.Join(product(hu, c.x, u), product(hv, c.x, v)); err != nil {
		return err
	}
	if !hu.Finite() || !hv.Finite() {
		return errors.New("some of the product is not written or not finite")
	}
	var left, right, size float64
	for k, b := range m {
		left += b.Inner(c.x[k], u[k], hv[k])
		right += b.Inner(c.x[k], hu[k], v[k])
		size += b.Norm(c.x[k], u[k])*b.Norm(c.x[k], hv[k]) + b.Norm(c.x[k], hu[k])*b.Norm(c.x[k], v[k])
	}
	if !(math.Abs(left-right) <= tolerance*size) {
		return fmt.Errorf("<u, H v> is %v and <H u, v> is %v", left, right)
	}
	return nil
}
