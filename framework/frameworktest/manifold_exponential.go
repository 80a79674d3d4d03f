package frameworktest

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// checkExp tries the laws of the exponential map of a [framework.Exper]: it agrees
// with the retraction to its order, and its curves are geodesics.
//
// With a metric, or on classes of points, what makes a curve a geodesic is that it
// starts without acceleration and goes on from each of its points as it would from
// the start.
func (c *manifoldCheck) checkExp() {
	e, ok := c.m.(framework.Exper)
	if !ok {
		return
	}
	c.slopeLaw("exponential", float64(c.order()+1), func(x, v []float64, t float64) (float64, float64, error) {
		y, err := c.retract(x, times(t, v))
		z := c.zeros()
		err = errors.Join(err, e.Exp(z, x, times(t, v)))
		floats.Sub(y, z)
		if c.isQuotient() { // the two may take different representatives
			y = c.project(x, y)
		}
		return norm(y), norm(x), err
	})
	_, measured := c.m.(framework.Distance)
	switch {
	case c.hasMetric():
		c.law("geodesic", func(x []float64) error {
			return errors.Join(c.constantSpeed(e, x), c.unaccelerated(e.Exp, x), c.flow(e.Exp, x))
		})
	case c.isQuotient() && measured:
		c.law("geodesic", func(x []float64) error { return c.flow(e.Exp, x) })
	default:
		c.slopeLaw("geodesic", 3, func(x, v []float64, t float64) (float64, float64, error) {
			return c.tangentialAcceleration(e, x, v, t/2)
		})
	}
	c.checkSteps("exponential", e.Exp)
}

// tangentialAcceleration is the tangential part of the second difference over h
// at the middle of the geodesic from x along v. For geodesics it is O(h^4), for
// other curves O(h^2).
func (c *manifoldCheck) tangentialAcceleration(e framework.Exper, x, v []float64, h float64) (size, magnitude float64, err error) {
	before, middle, after := c.zeros(), c.zeros(), c.zeros()
	err = errors.Join(
		e.Exp(before, x, times(0.5-h, v)),
		e.Exp(middle, x, times(0.5, v)),
		e.Exp(after, x, times(0.5+h, v)))
	floats.Add(before, after)
	floats.AddScaled(before, -2, middle)
	return norm(c.project(middle, before)), 4 * norm(x), err
}

// constantSpeed compares the speed in the middle of a geodesic, by central
// differences, with that at the start.
func (c *manifoldCheck) constantSpeed(e framework.Exper, x []float64) error {
	const h = 0x1p-17
	v, err := c.step(x)
	if err != nil {
		return err
	}
	before, middle, after := c.zeros(), c.zeros(), c.zeros()
	err = errors.Join(
		e.Exp(before, x, times(0.5-h, v)),
		e.Exp(middle, x, times(0.5, v)),
		e.Exp(after, x, times(0.5+h, v)))
	if err != nil {
		return err
	}
	floats.Sub(after, before)
	floats.Scale(1/(2*h), after)
	start, later := c.inner(x, v, v), c.inner(middle, after, after)
	if !(math.Abs(later-start) <= 1e-6*start) {
		return fmt.Errorf("the squared speed is %g at the start, %g in the middle", start, later)
	}
	return nil
}
