package frameworktest

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// checkMetric tests the laws of a [framework.Metric]: an inner product on the tangent space, and the gradient that
// represents a differential in it.
func (c *manifoldCheck) checkMetric() {
	m, ok := c.m.(framework.Metric)
	if !ok {
		return
	}
	c.law("metric", func(x []float64) error {
		u, v, w := c.tangent(x), c.tangent(x), c.tangent(x)
		uu, vv, ww := m.Inner(x, u, u), m.Inner(x, v, v), m.Inner(x, w, w)
		if c.m.Dim() > 0 && !(uu > 0 && vv > 0 && ww > 0) {
			return fmt.Errorf("squared lengths are %g, %g, %g", uu, vv, ww)
		}
		sum := times(2, v)
		floats.Add(sum, w)
		// Cauchy and Schwarz bound every product.
		scale := math.Sqrt(uu) * (2*math.Sqrt(vv) + math.Sqrt(ww))
		return errors.Join(
			equalNumbers(m.Inner(x, u, v), m.Inner(x, v, u), scale),
			equalNumbers(m.Inner(x, u, sum), 2*m.Inner(x, u, v)+m.Inner(x, u, w), scale))
	})
	c.law("gradient", func(x []float64) error {
		g, v := c.gauss(), c.tangent(x)
		grad := c.gradient(x, g)
		return errors.Join(
			equal(c.project(x, grad), grad),
			equalNumbers(m.Inner(x, grad, v), floats.Dot(g, v), norm(g)*norm(v)))
	})
}
