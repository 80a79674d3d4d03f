package frameworktest

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// checkRetraction tests the laws of the retraction: its Taylor expansion at 0, and that its results are on the
// manifold.
func (c *manifoldCheck) checkRetraction() {
	c.law("retraction at zero", func(x []float64) error {
		y, err := c.retract(x, c.zeros())
		if err != nil {
			return err
		}
		return equal(y, x)
	})
	c.slopeLaw("retraction slope", 2, func(x, v []float64, t float64) (float64, float64, error) {
		y, err := c.retract(x, times(t, v))
		floats.Sub(y, x)
		floats.AddScaled(y, -t, v)
		return norm(y), norm(x), err
	})
	if c.order() >= 2 {
		c.law("second order", func(x []float64) error { return c.unaccelerated(c.m.Retract, x) })
	}
	c.checkSteps("retraction", c.m.Retract)
}

// checkSteps tests a retraction on steps of all lengths, and on steps that are not finite.
func (c *manifoldCheck) checkSteps(name string, retract func(dst, x, v []float64) error) {
	c.law(name+" on manifold", func(x []float64) error {
		v, err := c.step(x)
		if err != nil {
			return err
		}
		for _, t := range []float64{0x1p-10, 1, 0x1p10, 0x1p30, 1e100, 1e200, 1e308} {
			y := c.zeros()
			err := retract(y, x, times(t, v))
			if err != nil && t > 1 {
				continue
			}
			if err := errors.Join(err, c.onManifold(y)); err != nil {
				return fmt.Errorf("step of length %.2g: %w", t*norm(v), err)
			}
		}
		return nil
	})
	c.law(name+" of non-finite steps", func(x []float64) error {
		if len(x) == 0 {
			return nil
		}
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			v := c.tangent(x)
			v[c.rng.IntN(len(v))] = bad
			if retract(c.zeros(), x, v) == nil {
				return fmt.Errorf("no error for a step with an entry %g", bad)
			}
		}
		return nil
	})
}
