package frameworktest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework/rowloss"
)

// checkDual tries the laws of losses that are norms or sums of powers.
func (c *lossCheck) checkDual() {
	if l, ok := c.loss.(rowloss.SupportFunction); ok {
		c.try("support function", func() error { return c.support(l) })
		c.try("dual projection", func() error { return c.dualProjection(l) })
	}
	if l, ok := c.loss.(rowloss.PowerSum); ok {
		c.try("power sum", func() error { return c.powerSum(l) })
	}
}

// support tries that gradients are in the ball of the dual norm, and that the loss is
// their product with the residual.
func (c *lossCheck) support(l rowloss.SupportFunction) error {
	projected := slices.Clone(c.grad)
	l.ProjectDual(projected, c.o.Dim)
	products := make([]float64, len(c.values))
	for i := range products {
		products[i] = floats.Dot(c.grad[i*c.o.Dim:(i+1)*c.o.Dim], c.rows[i*c.o.Dim:(i+1)*c.o.Dim])
	}
	return errors.Join(agree("a gradient, moved into the ball of the dual norm,", projected, c.grad), agree("<gradient, residual>", products, c.values))
}

// dualProjection tries that points are moved to the nearest ones of a convex ball,
// whose products with residuals the loss bounds.
func (c *lossCheck) dualProjection(l rowloss.SupportFunction) error {
	dim := c.o.Dim
	far := c.ordinary()
	floats.Scale(3/c.o.Scale, far)
	near := slices.Clone(far)
	l.ProjectDual(near, dim)
	along := slices.Clone(c.rows) // where the bound is attained
	floats.Scale(1e3/c.o.Scale, along)
	l.ProjectDual(along, dim)
	again := slices.Clone(near)
	l.ProjectDual(again, dim)
	if err := agree("a second projection", again, near); err != nil {
		return err
	}
	for i, value := range c.values {
		row := func(x []float64) []float64 { return x[i*dim : (i+1)*dim] }
		if g := max(floats.Dot(row(near), row(c.rows)), floats.Dot(row(along), row(c.rows))); !(g <= value*(1+lossTolerance)) {
			return fmt.Errorf("the product of a residual with a point of the ball is %g, the loss %g", g, value)
		}
		for j := range c.values { // other points of the ball
			var angle, size float64
			for k, p := range row(near) {
				gone, other := row(far)[k]-p, c.grad[j*dim+k]-p
				angle += gone * other
				size += math.Abs(gone * other)
			}
			if !(angle <= lossTolerance*(1+size)) {
				return errors.New("a projection is not the nearest point of the ball")
			}
		}
	}
	return nil
}

func (c *lossCheck) powerSum(l rowloss.PowerSum) error {
	p := l.Power()
	if !(p > 1 && p < 2) {
		return fmt.Errorf("the power is %g, want one between 1 and 2", p)
	}
	want := make([]float64, len(c.values))
	for i := range want {
		for _, r := range c.rows[i*c.o.Dim : (i+1)*c.o.Dim] {
			want[i] += math.Pow(math.Abs(r), p)
		}
	}
	return agree("the sum of powers", c.values, want)
}
