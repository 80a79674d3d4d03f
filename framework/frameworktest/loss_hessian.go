package frameworktest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// checkSecondOrder tests the laws of the Hessian of a [framework.SecondOrder] loss: the slope of the second-order
// remainder, symmetry, and products in place.
func (c *lossCheck) checkSecondOrder() {
	s, ok := c.loss.(framework.SecondOrder)
	if !ok {
		return
	}
	c.slopeLaw("Hessian slope", 3, func() (*expansion, error) { return c.expand(c.loss, c.rows, c.sideways(), 2) })
	c.try("Hessian symmetric", func() error { return c.hessianSymmetric(s) })
	c.try("Hessian in place", func() error {
		v := c.ordinary()
		want, err := c.hessian(s, c.rows, v)
		return errors.Join(err, s.HessianProduct(v, slices.Clone(c.rows), v, c.o.Dim), c.same("products", v, want))
	})
}

func (c *lossCheck) hessianSymmetric(s framework.SecondOrder) error {
	u, v := c.ordinary(), c.ordinary()
	hu, errU := c.hessian(s, c.rows, u)
	hv, errV := c.hessian(s, c.rows, v)
	if err := errors.Join(errU, errV); err != nil {
		return err
	}
	for i := range c.o.Rows {
		a, b := floats.Dot(c.row(u, i), c.row(hv, i)), floats.Dot(c.row(v, i), c.row(hu, i))
		size := norm(c.row(u, i))*norm(c.row(hv, i)) + norm(c.row(v, i))*norm(c.row(hu, i)) +
			norm(c.row(u, i))*norm(c.row(v, i))*norm(c.row(c.grad, i))/norm(c.row(c.rows, i))
		if !(math.Abs(a-b) <= lossTolerance*size) {
			return fmt.Errorf("row %d: u'Hv = %g, v'Hu = %g", i, a, b)
		}
	}
	return nil
}
