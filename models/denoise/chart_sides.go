package denoise

import "math"

const (
	// sideSteps is the number of steps of expectation and maximization of a chart.
	sideSteps = 6
	// leastSides is the square of the distance of a sheet from the surface between two, in units of that of
	// the noise over the root of half of the number of rows, from which on there are two.
	leastSides = 2
)

// takeSide splits the chart that has been solved into two parallel ones, the mean of which it is, by steps of expectation and
// maximization with the noise of the setting, and takes the one on the side of the row pivot. With the height r of a row
// over the chart its side is e = tanh(half r/scale^2) on average; the chart then is that of the heights less half e, and half
// the mean of r e. Where half comes out as what chance makes of one sheet, the chart stays. It is false where there is none.
func (c *spaceChart) takeSide(pivot []float64, s *setting) bool {
	l := &c.lanes
	half, scale, cut := s.sides/c.h, s.scale/c.h, s.cut/c.h
	p, q, z := l.column(spaceP), l.column(spaceQ), l.column(spaceZ)
	c.heightsBefore = append(c.heightsBefore[:0], z...)
	height := c.heightsBefore
	used := l.column(spaceUsed)
	for range sideSteps {
		var first, total, square float64
		for i, w := range used {
			r := height[i] - c.height(p[i], q[i])
			e := hyperbolicTangent(half * r / (scale * scale))
			first += w * r * e
			total += w
			square += w * w
			z[i] = height[i] - half*e
		}
		if !(total > 0) {
			return false
		}
		if half = first / total; half*half < leastSides*scale*scale*math.Sqrt(2*square)/total {
			copy(z, height)
			c.reweigh(cut)
			return c.solve(s.ridge)
		}
		c.reweigh(cut)
		if !c.solve(s.ridge) {
			return false
		}
	}
	side := half // up or down
	if c.beyond(pivot) < 0 {
		side = -half
	}
	for i := range z { // whose noise is that of the rows on this side
		r := height[i] - c.height(p[i], q[i])
		used[i] *= .5 * (1 + hyperbolicTangent(side*r/(scale*scale)))
	}
	copy(z, height)
	c.b[0] += side
	return true
}

// hyperbolicTangent is a fraction by Lambert, to 1e-4.
func hyperbolicTangent(x float64) float64 {
	if math.Abs(x) > 4.97 {
		return math.Copysign(1, x)
	}
	y := x * x
	above := 135135 + float64(y*(17325+float64(y*(378+y))))
	below := 135135 + float64(y*(62370+float64(y*(3150+float64(28*y)))))
	return x * above / below
}
