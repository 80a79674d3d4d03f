package nearest

import "math"

// decide2D is [leastAbsolute.decide] for d = 2, written out: most of the time where boxes
// are looked at.
func (s *leastAbsolute) decide2D(b *box, fixed, lower *polynomial, list []int) (at float64) {
	x, y, g, h := b.centre[0], b.centre[1], b.half[0], b.half[1]
	for _, k := range list {
		c := s.entry(k)
		p, q, r := c[3]*x+c[4]*y, c[5]*y, c[4]*x
		v := c[0] + x*(c[1]+p) + y*(c[2]+q)
		change := g*(math.Abs(c[1]+p+c[3]*x)+math.Abs(c[3])*g+math.Abs(c[4])*h) + h*(math.Abs(c[2]+2*q+r)+math.Abs(c[5])*h)
		by, to := math.Copysign(1, v), fixed
		if size := math.Abs(v); size < change {
			s.list = append(s.list, k)
			by, to = v/change, lower
			at += size
		}
		to[0] += by * c[0]
		to[1] += by * c[1]
		to[2] += by * c[2]
		to[3] += by * c[3]
		to[4] += by * c[4]
		to[5] += by * c[5]
	}
	return at
}
