package frameworktest

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// checkSeparable tests the laws of a [framework.Separable] loss, a sum of functions phi of the entries: its form and
// the derivatives of phi.
func (c *lossCheck) checkSeparable() {
	l, ok := c.loss.(framework.Separable)
	if !ok {
		return
	}
	c.try("separable form", func() error { return c.separableForm(l) })
	c.slopeLaws("separable slopes", func() (*expansion, error) { return scalarExpansion(l.Phi, c.rows) })
}

func (c *lossCheck) separableForm(l framework.Separable) error {
	phi, d1, d2 := poisoned(len(c.rows)), poisoned(len(c.rows)), poisoned(len(c.rows))
	l.Phi(phi, d1, d2, slices.Clone(c.rows))
	sums := make([]float64, c.o.Rows)
	for i := range sums {
		sums[i] = floats.Sum(c.row(phi, i))
		if err := agree("sum of phi", sums[i:i+1], c.values[i:i+1]); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	err := agree("d1", d1, c.grad)
	if s, ok := c.loss.(framework.SecondOrder); ok {
		ones := make([]float64, len(c.rows))
		floats.AddConst(1, ones)
		product, failure := c.hessian(s, c.rows, ones)
		err = errors.Join(err, failure, agree("d2", d2, product))
	}
	return err
}
