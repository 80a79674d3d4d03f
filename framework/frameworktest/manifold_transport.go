package frameworktest

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// checkInverse tries the law of an inverse of the retraction.
func (c *manifoldCheck) checkInverse() {
	inv, ok := c.m.(framework.InverseRetracter)
	if !ok {
		return
	}
	c.law("inverse retraction", func(x []float64) error {
		v, err := c.step(x)
		if err != nil {
			return err
		}
		floats.Scale(0.25, v)
		y, err := c.retract(x, v)
		if err != nil {
			return err
		}
		w := c.zeros()
		if err := inv.InverseRetract(w, x, y); err != nil {
			return err
		}
		return equal(w, v)
	})
}

func (c *manifoldCheck) checkTransport() {
	tr, ok := c.m.(framework.Transporter)
	if !ok {
		return
	}
	transport := func(x, y, v []float64) []float64 {
		dst := c.zeros()
		tr.Transport(dst, x, y, v)
		return dst
	}
	c.law("transport tangent", func(x []float64) error {
		v, y, err := c.stepAndEnd(x)
		if err != nil {
			return err
		}
		w := transport(x, y, v)
		return equal(c.project(y, w), w)
	})
	c.law("transport linear", func(x []float64) error {
		v, y, err := c.stepAndEnd(x)
		if err != nil {
			return err
		}
		return c.linear(func(v []float64) []float64 { return transport(x, y, v) }, v, c.tangent(x))
	})
	c.law("transport at rest", func(x []float64) error {
		v := c.tangent(x)
		return equal(transport(x, x, v), v)
	})
}
