package frameworktest

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

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
	c.law("transport length", func(x []float64) error { return c.transportLength(transport, x) })
}

// transportLength tests transport over a distance of a quarter, which is short on any manifold with curvatures of
// about 1. Transport must change lengths by less than a factor of 2 and must not reverse vectors.
func (c *manifoldCheck) transportLength(transport func(x, y, v []float64) []float64, x []float64) error {
	v, u := c.unit(x), c.unit(x)
	floats.Scale(0.25, v)
	y, err := c.retract(x, v)
	if err != nil || c.m.Dim() == 0 {
		return err
	}
	w, there := transport(x, y, u), c.project(y, u)
	length := math.Sqrt(c.inner(y, w, w))
	if !(length >= 0.5 && length <= 2) {
		return fmt.Errorf("a vector of length 1 has length %.3g after a way of 0.25", length)
	}
	if !(c.inner(y, w, there) > 0) {
		return fmt.Errorf("a vector has turned by 90 degrees or more after a way of 0.25")
	}
	return nil
}
