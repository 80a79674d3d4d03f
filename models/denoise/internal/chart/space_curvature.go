package chart

// In space the curvature of a surface has one direction, that of the normal n, and three numbers,
//
//	M_ab = m_ab n, m = (m_11, m_12, m_22).
//
// Two tangent planes have the singular values 1 and |det S| of S = U_j U', whose determinant is n_j'n, and the polar factor of a matrix
// of two rows is, with S = (a b; c d),
//
//	R = (a+d  b-c;  c-b  a+d)/(1 + det S)  or, where det S < 0,  R = (a-d  b+c;  b+c  d-a)/(1 - det S),
//
// a rotation or a reflection. The direct rotation takes n_j to n or to -n, so that m becomes R'mR with the sign of det S: what
// [carrier] does without an eigenvalue or a root.

// spaceBend is how a surface in space bends at a point, over the axes u and v of its tangent plane.
type spaceBend struct{ u, v, m [3]float64 }

// read reads how a stored chart bends.
func (s *spaceBend) read(stored []float64) {
	from := (*[3 + 6 + 1 + spaceTerms]float64)(stored)
	s.u, s.v = [3]float64(from[3:6]), [3]float64(from[6:9])
	f := 1 / from[9]
	s.m = [3]float64{f * from[13], .5 * f * from[14], f * from[15]}
}

func inner(a, b *[3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// in is the curvature in the frame of to, with the square of the cosine between the tangent planes, 0 where they are too far apart.
func (s *spaceBend) in(to *spaceBend) (m [3]float64, square float64) {
	a, b, c, d := inner(&s.u, &to.u), inner(&s.u, &to.v), inner(&s.v, &to.u), inner(&s.v, &to.v)
	det := a*d - b*c
	square = det * det
	if !(square > leastCosine*leastCosine) {
		return m, 0
	}
	p, q, sign, f := a+d, b-c, 1.0, 1/(1+det)
	if det < 0 {
		p, q, sign, f = a-d, b+c, -1, 1/(1-det)
	}
	p, q = f*p, f*q // R = (p q; -sign q  sign p)
	pp, pq, qq := p*p, p*q, q*q
	across := 2 * pq * s.m[1]
	m[0] = sign*(pp*s.m[0]+qq*s.m[2]) - across
	m[1] = sign*pq*(s.m[0]-s.m[2]) + (pp-qq)*s.m[1]
	m[2] = sign*(qq*s.m[0]+pp*s.m[2]) + across
	return m, square
}

// spaceDraw is a [Draw] of surfaces in space.
type spaceDraw struct{ to, from spaceBend }

func (w *spaceDraw) begin(own []float64) {
	w.to.read(own)
	w.to.m = [3]float64{}
}

// include returns the weight with which the chart counts.
func (w *spaceDraw) include(stored []float64, weight float64) float64 {
	w.from.read(stored)
	m, square := w.from.in(&w.to)
	weight *= square
	for i, v := range m {
		w.to.m[i] += weight * v
	}
	return weight
}

func (w *spaceDraw) scale(f float64) {
	for i := range w.to.m {
		w.to.m[i] *= f
	}
}

// drawTo takes a curvature, nil for none, for what the ridge draws to in the frame at hand.
func (c *Space) drawTo(w *Draw) {
	c.drawn = [3]float64{}
	if w == nil {
		return
	}
	m, _ := w.space.to.in(&spaceBend{u: c.u, v: c.v})
	c.drawn = [3]float64{c.h * m[0], 2 * c.h * m[1], c.h * m[2]}
}
