package frameworktest

import (
	"fmt"
	"math"
)

// convex tests chords and tangents between pairs of rows. In a quarter of the pairs, the first row is zero.
func (c *lossCheck) convex() error {
	n, dim := 4*c.o.Rows, c.o.Dim
	points := make([]float64, 0, 3*n*dim)
	for range 8 {
		points = append(points, c.ordinary()...)
	}
	a, b := points[:n*dim], points[n*dim:2*n*dim]
	clear(a[:n/4*dim])
	for k := range a {
		points = append(points, a[k]/2+b[k]/2)
	}
	values, grad, err := c.evaluate(c.loss, points)
	if err != nil {
		return err
	}
	for i := range n {
		fa, fb, middle := values[i], values[n+i], values[2*n+i]
		slack := lossTolerance * (math.Abs(fa) + math.Abs(fb))
		if !(middle <= fa/2+fb/2+slack) {
			return fmt.Errorf("%g in the middle of %g and %g", middle, fa, fb)
		}
		tangent, size := fa, 0.0
		for k, g := range c.row(grad, i) {
			step := g * (b[i*dim+k] - a[i*dim+k])
			tangent, size = tangent+step, size+math.Abs(step)
		}
		if !(fb >= tangent-slack-lossTolerance*size) {
			return fmt.Errorf("%g lies below the tangent, %g, at a row of norm %g", fb, tangent, norm(c.row(a, i)))
		}
	}
	return nil
}
