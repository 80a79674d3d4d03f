package frameworktest

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// checkRadial tests the laws of a [framework.Radial] loss, a function rho of the squared norm: its form, the
// derivatives of rho, and rotation of the gradient with the row.
func (c *lossCheck) checkRadial() {
	l, ok := c.loss.(framework.Radial)
	if !ok {
		return
	}
	u := make([]float64, c.o.Rows)
	for i := range u {
		u[i] = floats.Dot(c.row(c.rows, i), c.row(c.rows, i))
	}
	c.try("radial form", func() error { return c.radialForm(l, u) })
	c.slopeLaws("radial slopes", func() (*expansion, error) {
		return scalarExpansion(l.Rho, u)
	})
	c.try("rotation", c.rotation)
}

func (c *lossCheck) radialForm(l framework.Radial, u []float64) error {
	rho, d1 := poisoned(c.o.Rows), poisoned(c.o.Rows)
	l.Rho(rho, d1, nil, u)
	for i, v := range c.values {
		grad := slices.Clone(c.row(c.rows, i))
		floats.Scale(2*d1[i], grad)
		if err := errors.Join(agree("rho", rho[i:i+1], []float64{v}), agree("2 d1 r", grad, c.row(c.grad, i))); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}

// rotation reflects all rows at one random plane.
func (c *lossCheck) rotation() error {
	w := c.ordinary()[:c.o.Dim]
	floats.Scale(1/norm(w), w)
	reflect := func(dst, row []float64, _ int) {
		floats.AddScaledTo(dst, row, -2*floats.Dot(w, row), w)
	}
	values, grad, err := c.evaluate(c.loss, c.mapRows(c.rows, reflect))
	if err != nil {
		return err
	}
	want := c.mapRows(c.grad, reflect)
	for i := range values {
		if err := errors.Join(agree("value", values[i:i+1], c.values[i:i+1]),
			agree("gradient", c.row(grad, i), c.row(want, i))); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}
