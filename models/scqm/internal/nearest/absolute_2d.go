package nearest

import (
	"math"
	"slices"
)

// The loops over the entries of a residual, written out for d = 2: most of the time of a
// search. They give what the general ones do, to rounding.

// signedSum2D is [absoluteDescent.absoluteSum] for d = 2.
func (s *absoluteDescent) signedSum2D(t *place) float64 {
	x, y := t[0], t[1]
	xx, xy, yy := x*x, x*y, y*y
	var p0, p1, p2, p3, p4, p5, total float64
	for k := range s.f.D {
		c := s.coef[6*k : 6*k+6 : 6*k+6]
		v := c[0] + c[1]*x + c[2]*y + c[3]*xx + c[4]*xy + c[5]*yy
		total += math.Abs(v)
		if v == 0 || slices.Contains(s.active, k) {
			continue
		}
		sign := math.Copysign(1, v)
		p0 += sign * c[0]
		p1 += sign * c[1]
		p2 += sign * c[2]
		p3 += sign * c[3]
		p4 += sign * c[4]
		p5 += sign * c[5]
	}
	s.sum = polynomial{p0, p1, p2, p3, p4, p5}
	return total
}

// alongLine2D computes the quadratics of all entries along at + s u, for d = 2.
func (s *absoluteDescent) alongLine2D(u *place) {
	x, y, a, b := s.at[0], s.at[1], u[0], u[1]
	xx, xy, yy := x*x, x*y, y*y
	xa, xb, yb := 2*x*a, x*b+y*a, 2*y*b
	aa, ab, bb := a*a, a*b, b*b
	for k := range s.f.D {
		c := s.coef[6*k : 6*k+6 : 6*k+6]
		q := &s.quadratics[k]
		q[0] = c[0] + c[1]*x + c[2]*y + c[3]*xx + c[4]*xy + c[5]*yy
		q[1] = c[1]*a + c[2]*b + c[3]*xa + c[4]*xb + c[5]*yb
		q[2] = c[3]*aa + c[4]*ab + c[5]*bb
	}
}

// decide2D is [leastAbsolute.decide] for d = 2.
func (s *leastAbsolute) decide2D(b *box, fixed, lower *polynomial, list []int) (at float64) {
	x, y, g, h := b.centre[0], b.centre[1], b.half[0], b.half[1]
	for _, k := range list {
		c := s.coef[6*k : 6*k+6 : 6*k+6]
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
