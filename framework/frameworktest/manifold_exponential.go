package frameworktest

import (
	"errors"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// checkExp tests the laws of the exponential map of a [framework.Exper]. It must agree with the retraction to its
// order, and its curves must be geodesics: they start without acceleration, and a restart at any of their points
// continues them.
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
	c.law("geodesic", func(x []float64) error {
		err := c.unaccelerated(e.Exp, x)
		if c.isQuotient() && !measured { // ends can be told apart by their class alone
			return err
		}
		return errors.Join(err, c.flow(e.Exp, x))
	})
	c.checkSteps("exponential", e.Exp)
}
