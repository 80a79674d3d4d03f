package frameworktest

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
)

// checkSmoother tests the laws of a [framework.Smoother]: its smooth losses tend to the loss itself. It also tests
// the derivatives of one of them.
func (c *lossCheck) checkSmoother() {
	s, ok := c.loss.(framework.Smoother)
	if !ok {
		return
	}
	c.try("smoothing", func() error { return c.smoothing(s) })
	eps := 0.3 * c.o.Scale
	rows, steps := c.ordinary(), c.ordinary() // of about the size of eps
	floats.Scale(eps/c.o.Scale, rows)
	floats.Scale(0.1*eps/c.o.Scale, steps)
	clear(rows[:c.o.Dim])
	c.slopeLaw("smoothed gradient slope", 2, func() (*expansion, error) {
		return c.expand(s.Smooth(eps), rows, steps, 1)
	})
	if _, ok := c.loss.(framework.SecondOrder); ok {
		c.slopeLaw("smoothed Hessian slope", 3, func() (*expansion, error) {
			return c.expand(s.Smooth(eps), rows, steps, 2)
		})
	}
}

func (c *lossCheck) smoothing(s framework.Smoother) error {
	if err := c.sameAgain(s.Smooth(0)); err != nil {
		return fmt.Errorf("Smooth(0): %w", err)
	}
	// The constant may grow with the slope of the loss, not with 1/eps.
	constant := 4 * (1 + floats.Norm(c.grad, math.Inf(1)))
	for eps := 0.1; eps > 5e-7; eps /= 10 {
		l := s.Smooth(eps * c.o.Scale)
		if l.Name() != c.loss.Name() || rowloss.StructureOf(l) != rowloss.StructureOf(c.loss) {
			return fmt.Errorf("Smooth(%g) is a %v loss of name %q", eps*c.o.Scale, rowloss.StructureOf(l), l.Name())
		}
		values, _, err := c.evaluate(l, c.rows)
		if err != nil {
			return err
		}
		for i, v := range values {
			if d := math.Abs(v - c.values[i]); !(d <= constant*eps*c.o.Scale*float64(c.o.Dim)) {
				return fmt.Errorf("Smooth(%g) is off by %g", eps*c.o.Scale, d)
			}
		}
	}
	return nil
}
