package chart

import "math"

// TakeSide splits the chart that has been solved into two parallel ones, the mean of which it is, by steps of expectation and
// maximization with the noise of the setting, and takes the one on the side of the row pivot. With the height r of a row
// over the chart its side is e = tanh(half r/scale^2) on average; the chart then is that of the heights less half e, and half
// the mean of r e. Where half comes out as what chance makes of one sheet, the chart stays. It is false where there is none.
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

// tangentBound is where the fraction reaches 1.
const tangentBound = 4.97
