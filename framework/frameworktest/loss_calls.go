package frameworktest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
)

// checkCalls tests the laws that do not depend on the formula.
func (c *lossCheck) checkCalls() {
	c.try("residuals kept", c.residualsKept)
	c.try("deterministic", func() error { return c.sameAgain(c.loss) })
	c.try("parts", c.parts)
	c.try("in place", c.inPlace)
	c.try("batch equals single", c.batchEqualsSingle)
	c.try("empty batch", func() error {
		return c.loss.Evaluate([]float64{}, []float64{}, []float64{}, c.o.Dim)
	})
	c.try("concurrent", func() error {
		return concurrently(lossCallers, func() error { return c.sameAgain(c.loss) })
	})
	if d, ok := c.loss.(rowloss.Dimensioned); ok {
		c.try("row length", func() error {
			dim := d.Dim() + 1
			if c.loss.Evaluate(make([]float64, 1), make([]float64, dim), make([]float64, dim), dim) == nil {
				return fmt.Errorf("no error for a row of %d entries", dim)
			}
			return nil
		})
	}
}

func (c *lossCheck) residualsKept() error {
	r := slices.Clone(c.rows)
	if err := c.loss.Evaluate(poisoned(c.o.Rows), poisoned(len(r)), r, c.o.Dim); err != nil {
		return err
	}
	if !sameBits(r, c.rows) {
		return errors.New("Evaluate changed them")
	}
	return nil
}

// sameAgain evaluates the ordinary rows once more.
func (c *lossCheck) sameAgain(l framework.Loss) error {
	values, grad, err := c.evaluate(l, c.rows)
	if err != nil {
		return err
	}
	return errors.Join(c.same("values", values, c.values), c.same("gradients", grad, c.grad))
}

func (c *lossCheck) parts() error {
	values, grad := poisoned(c.o.Rows), poisoned(len(c.rows))
	return errors.Join(
		c.loss.Evaluate(nil, nil, slices.Clone(c.rows), c.o.Dim),
		c.loss.Evaluate(values, nil, slices.Clone(c.rows), c.o.Dim),
		c.same("values without gradients", values, c.values),
		c.loss.Evaluate(nil, grad, slices.Clone(c.rows), c.o.Dim),
		c.same("gradients without values", grad, c.grad))
}

func (c *lossCheck) inPlace() error {
	values, r := poisoned(c.o.Rows), slices.Clone(c.rows)
	return errors.Join(
		c.loss.Evaluate(values, r, r, c.o.Dim),
		c.same("values", values, c.values),
		c.same("gradients", r, c.grad))
}

func (c *lossCheck) batchEqualsSingle() error {
	reversed := c.mapRows(c.rows, func(dst, _ []float64, i int) { copy(dst, c.row(c.rows, c.o.Rows-1-i)) })
	values, grad, err := c.evaluate(c.loss, reversed)
	if err != nil {
		return err
	}
	for i := range c.o.Rows {
		j := c.o.Rows - 1 - i
		value, gradient, err := c.evaluate(c.loss, c.row(c.rows, i))
		if err = errors.Join(err,
			c.same("values in reverse", values[j:j+1], c.values[i:i+1]),
			c.same("gradients in reverse", c.row(grad, j), c.row(c.grad, i)),
			c.same("value of a single row", value, c.values[i:i+1]),
			c.same("gradient of a single row", gradient, c.row(c.grad, i))); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}
