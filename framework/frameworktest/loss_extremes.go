package frameworktest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// checkExtremes tests residuals that are zero, huge, tiny or not finite.
func (c *lossCheck) checkExtremes() {
	c.try("zero residual", c.zeroResidual)
	c.try("non-finite residuals", func() error {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			if err := c.nonFinite(bad); err != nil {
				return fmt.Errorf("%g: %w", bad, err)
			}
		}
		return nil
	})
	c.try("large residuals", func() error { return c.extreme(1e150) })
	c.try("tiny residuals", func() error { return c.extreme(1e-150) })
}

func (c *lossCheck) zeroResidual() error {
	zero := make([]float64, c.o.Dim)
	values, grad, err := c.evaluate(c.loss, zero)
	if err = errors.Join(err, allFinite(values, grad)); err != nil {
		return err
	}
	if values[0] < 0 {
		return fmt.Errorf("the value is %g", values[0])
	}
	if s, ok := c.loss.(framework.SecondOrder); ok {
		product := poisoned(c.o.Dim)
		err = errors.Join(s.HessianProduct(product, zero, c.ordinary()[:c.o.Dim], c.o.Dim), allFinite(product))
	}
	out := [][]float64{poisoned(1), poisoned(1), poisoned(1)}
	switch l := c.loss.(type) {
	case framework.Radial:
		l.Rho(out[0], out[1], out[2], zero[:1])
		err = errors.Join(err, allFinite(out...))
	case framework.Separable:
		l.Phi(out[0], out[1], out[2], zero[:1])
		err = errors.Join(err, allFinite(out...))
	}
	return err
}

// nonFinite sets one entry of one row to NaN or Inf.
func (c *lossCheck) nonFinite(bad float64) error {
	i := c.o.Rows / 2
	r := slices.Clone(c.rows)
	c.row(r, i)[c.o.Dim-1] = bad
	values, grad, err := c.evaluate(c.loss, r)
	if err != nil {
		return nil // a typed refusal is as good
	}
	values[i] = c.values[i]
	copy(c.row(grad, i), c.row(c.grad, i))
	if err := errors.Join(c.same("values", values, c.values), c.same("gradients", grad, c.grad)); err != nil {
		return fmt.Errorf("other rows change: %w", err)
	}
	return nil
}

func (c *lossCheck) extreme(size float64) error {
	r := slices.Clone(c.rows)
	floats.Scale(size/c.o.Scale, r)
	values, grad, err := c.evaluate(c.loss, r)
	if err != nil {
		return err
	}
	if size < 1 {
		return allFinite(values, grad)
	}
	for i, v := range values {
		if math.IsNaN(v) || isFinite(v) && floats.HasNaN(c.row(grad, i)) {
			return fmt.Errorf("row %d: value %g, gradient %.3g", i, v, c.row(grad, i))
		}
	}
	return nil
}
