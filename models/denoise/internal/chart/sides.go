package chart

import "math"

// TakeSide splits the solved chart into two parallel ones at the same distance half on either side, by
// expectation-maximization with the noise of the setting. It keeps the one on the side of the row pivot. The expected
// side of a row of height r over the chart is e = tanh(half r/scale^2). The chart is then that of the heights minus
// half e, and half is the mean of r e. If half is no larger than chance gives for one sheet, the chart stays. It
// returns false if there is no chart.
func (c *Space) TakeSide(pivot []float64, s *Setting) bool {
	l := &c.lanes
	half, scale, cut := s.Sides/c.h, s.Scale/c.h, s.Cut/c.h
	z := l.column(spaceZ)
	c.heightsBefore = append(c.heightsBefore[:0], z...)
	height, variance := c.heightsBefore, scale*scale
	for range 6 {
		first, total, square := l.splitSides(&c.b, height, half, variance)
		if !(total > 0) {
			return false
		}
		// The square of what chance makes of one sheet is the variance over the root of half of the number of rows.
		if half = first / total; half*half < 2*variance*math.Sqrt(2*square)/total {
			copy(z, height)
			c.reweigh(cut)
			return c.Solve(s.Ridge)
		}
		c.reweigh(cut)
		if !c.Solve(s.Ridge) {
			return false
		}
	}
	side := half // up or down
	if c.beyond(pivot) < 0 {
		side = -half
	}
	l.weighSide(&c.b, height, side, variance) // as the noise is that of the rows on this side
	copy(z, height)
	c.b[0] += side
	return true
}

// hyperbolicTangent approximates tanh x to 1e-4 by Lambert's continued fraction.
func hyperbolicTangent(x float64) float64 {
	if math.Abs(x) > tangentBound {
		return math.Copysign(1, x)
	}
	y := float64(x * x)
	above := 135135 + float64(y*(17325+float64(y*(378+y))))
	below := 135135 + float64(y*(62370+float64(y*(3150+float64(28*y)))))
	return float64(x*above) / below
}

// tangentBound is the argument at which the continued fraction of hyperbolicTangent reaches 1.
const tangentBound = 4.97
