package chart

import (
	"math"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
)

// Space is a [Surface] in three dimensions. All its sums are moments of the two coordinates: 15 of products of degree
// up to 4 and 6 of heights, instead of the 39 products that a general chart sums.
//
//	f(p, q) = o + h (p u + q v + (b'psi(p, q)) n),   psi = (1, p, q, p^2, pq, q^2)
type Space struct {
	o, u, v, n [3]float64
	h          float64
	b          [spaceTerms]float64

	p, q    float64 // coordinates of the last projection
	k       int     // rows
	cut     float64 // of their loss
	lanes   spaceLanes
	moments [15]float64         // of p^a q^b, by degree and then b
	heights [spaceTerms]float64 // of psi and the height
	gram    spaceFactor
	// heightsBefore are the heights of the rows before they are moved to the surface between two sheets.
	heightsBefore []float64

	creased bool // the chart is a crease
	edge    crease
	fit     creaseFit
	footOn  [2]bool    // the half planes that contain the last projection
	footAt  [3]float64 // the last projection
}

// spaceTerms is the number of functions psi.
const spaceTerms = 6

// spaceMoment maps i and j to the index of the moment of psi_i psi_j.
var spaceMoment = func() (at [spaceTerms][spaceTerms]int) {
	power := [spaceTerms][2]int{{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}}
	for i, a := range power {
		for j, b := range power {
			p, q := a[0]+b[0], a[1]+b[1]
			at[i][j] = (p+q)*(p+q+1)/2 + q
		}
	}
	return at
}()

func (c *Space) Width() int { return 3 + 6 + 1 + spaceTerms }

// Store implements Chart. A crease has its point, its two normals, and infinity in place of the first coefficient.
func (c *Space) Store(to []float64) {
	if c.creased {
		c.edge.store(to, c.h)
		return
	}
	copy(to, c.o[:])
	copy(to[3:], c.u[:])
	copy(to[6:], c.v[:])
	to[9] = c.h
	copy(to[10:], c.b[:])
}

func (c *Space) Load(from []float64) bool {
	if c.creased = IsCrease(from); c.creased {
		c.edge.load(from)
		c.h = from[9]
		return true
	}
	c.o, c.u, c.v = [3]float64(from), [3]float64(from[3:]), [3]float64(from[6:])
	c.h, c.b = from[9], [spaceTerms]float64(from[10:])
	c.n = cross(c.u, c.v)
	return c.h > 0
}

func inner(a, b *[3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func cross(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// Prepare implements Chart.
func (c *Space) Prepare(o, pivot []float64, r *Rows, s *Setting) bool {
	if !(r.Next > 0) {
		return false
	}
	c.creased, c.fit.searched = false, false
	c.k = len(r.Prior)
	c.h, c.o, c.cut = r.Next, [3]float64(o), s.Cut
	c.weigh(r)
	cut := s.Cut / c.h
	if !c.findPlane(r) {
		return false
	}
	c.take(r, gatheredX)
	var foot [3]float64
	for round := range s.Rounds {
		c.split()
		for step := 0; round == 0 && step < RobustSteps && !math.IsInf(s.Cut, 1); step++ {
			if !c.Solve(s.Ridge) {
				return false
			}
			c.reweigh(cut)
		}
		if round == s.Rounds-1 {
			break
		}
		if !c.Solve(s.Ridge) {
			return false
		}
		c.reweighRows(cut) // the next moments are those of other coordinates
		if !c.Foot(foot[:], pivot) || !c.moveTo(foot) {
			return false
		}
	}
	return c.moments[0] > 0
}

// take passes three columns of the rows to the kernels.
func (c *Space) take(r *Rows, column int) {
	c.lanes.x, c.lanes.xStride = r.columns[column*r.stride:], r.stride
}

// weigh computes the initial weights of a chart, as [Rows.weigh] does.
func (c *Space) weigh(r *Rows) {
	l := &c.lanes
	l.wide = dense.HasAVX2()
	l.stride, l.groups = upToLanes(c.k), upToLanes(c.k)/lanes
	l.own = dense.Grow(l.own, spaceColumns*l.stride)
	c.take(r, 0)
	if all, left := l.weigh(r.Next); !(left > leastTrusted*all) {
		copy(l.column(spaceUsed), l.column(spaceWeight))
	}
}

// findPlane finds the plane of largest variance of the positions near.
func (c *Space) findPlane(r *Rows) bool {
	l := &c.lanes
	c.take(r, gatheredNear)
	l.plane(c.o)
	sum := l.sum(0)
	if !(sum > 0) {
		return false
	}
	var mean [3]float64
	for j := range mean {
		mean[j] = c.o[j] + l.sum(1+j)/sum
	}
	l.plane(mean)
	a := [9]float64{l.sum(4), l.sum(5), l.sum(6), l.sum(5), l.sum(7), l.sum(8), l.sum(6), l.sum(8), l.sum(9)}
	var v [9]float64
	total := a[0] + a[4] + a[8]
	dense.JacobiEigen(a[:], v[:], 3)
	least, middle := 0, 1
	if a[4] < a[0] {
		least, middle = 1, 0
	}
	if a[8] < a[4*least] {
		least, middle = 2, least
	} else if a[8] < a[4*middle] {
		middle = 2
	}
	if !(a[4*middle] > Rounding*total) {
		return false
	}
	most := 3 - least - middle
	c.u, c.v = [3]float64(v[3*most:]), [3]float64(v[3*middle:])
	c.n = cross(c.u, c.v)
	return true
}

// split converts the rows to tangential coordinates and heights, and adds up moments.
func (c *Space) split() {
	c.lanes.turn(c.o, c.h, c.u, c.v, c.n)
	c.takeMoments()
}

func (c *Space) takeMoments() {
	for i := range c.moments {
		c.moments[i] = c.lanes.sum(i)
	}
	for i := range c.heights {
		c.heights[i] = c.lanes.sum(len(c.moments) + i)
	}
}

// Solve implements Chart.
func (c *Space) Solve(ridge float64) bool {
	c.creased = false
	for i := range spaceTerms {
		for j := range i + 1 {
			c.gram.l[i][j] = c.moments[spaceMoment[i][j]]
		}
	}
	total := c.moments[0]
	if !(total > 0) {
		return false
	}
	size := (c.moments[3] + c.moments[5]) / total / 2
	for i := 3; i < spaceTerms; i++ {
		c.gram.l[i][i] += ridge * total * size * size
	}
	if !c.gram.factor() {
		return false
	}
	c.b = c.heights
	c.gram.solve(&c.b)
	return true
}

// spaceFactor is a Gram matrix, the lower triangle, and then its Cholesky factor with one over the diagonal.
type spaceFactor struct {
	l       [spaceTerms][spaceTerms]float64
	inverse [spaceTerms]float64
}

// factor computes the Cholesky factor. It reports false where [dense.FactorCholesky] would: the matrix is singular.
func (f *spaceFactor) factor() bool {
	l := &f.l
	for j := range spaceTerms {
		pivot := l[j][j]
		limit := Singular * pivot
		for k := range j {
			pivot -= l[j][k] * l[j][k]
		}
		if !(pivot > limit) {
			return false
		}
		inverse := 1 / math.Sqrt(pivot)
		f.inverse[j] = inverse
		for i := j + 1; i < spaceTerms; i++ {
			v := l[i][j]
			for k := range j {
				v -= l[i][k] * l[j][k]
			}
			l[i][j] = v * inverse
		}
	}
	return true
}

// solve replaces x by the solution. Without loops it takes a third less time, and there are many for each chart.
func (f *spaceFactor) solve(x *[spaceTerms]float64) {
	l, d := &f.l, &f.inverse
	x0 := x[0] * d[0]
	x1 := (x[1] - l[1][0]*x0) * d[1]
	x2 := (x[2] - l[2][0]*x0 - l[2][1]*x1) * d[2]
	x3 := (x[3] - l[3][0]*x0 - l[3][1]*x1 - l[3][2]*x2) * d[3]
	x4 := (x[4] - l[4][0]*x0 - l[4][1]*x1 - l[4][2]*x2 - l[4][3]*x3) * d[4]
	x5 := (x[5] - l[5][0]*x0 - l[5][1]*x1 - l[5][2]*x2 - l[5][3]*x3 - l[5][4]*x4) * d[5]
	x5 *= d[5]
	x4 = (x4 - l[5][4]*x5) * d[4]
	x3 = (x3 - l[4][3]*x4 - l[5][3]*x5) * d[3]
	x2 = (x2 - l[3][2]*x3 - l[4][2]*x4 - l[5][2]*x5) * d[2]
	x1 = (x1 - l[2][1]*x2 - l[3][1]*x3 - l[4][1]*x4 - l[5][1]*x5) * d[1]
	x0 = (x0 - l[1][0]*x1 - l[2][0]*x2 - l[3][0]*x3 - l[4][0]*x4 - l[5][0]*x5) * d[0]
	*x = [spaceTerms]float64{x0, x1, x2, x3, x4, x5}
}

// height is the height of the chart at given coordinates.
func (c *Space) height(p, q float64) float64 {
	b := &c.b
	return b[0] + p*(b[1]+p*b[3]+q*b[4]) + q*(b[2]+q*b[5])
}

// reweigh computes Tukey's weights of the residuals, unless little weight is left, and adds up moments.
func (c *Space) reweigh(cut float64) {
	if math.IsInf(cut, 1) {
		return
	}
	all, left := c.lanes.reweigh(&c.b, cut)
	if !(left > leastTrusted*all) {
		c.lanes.reweigh(&c.b, math.Inf(1))
	}
	c.takeMoments()
}

// reweighRows computes the same weights, and does not change the moments.
func (c *Space) reweighRows(cut float64) {
	if math.IsInf(cut, 1) {
		return
	}
	all, left := c.lanes.reweighRows(&c.b, cut)
	if !(left > leastTrusted*all) {
		c.lanes.reweighRows(&c.b, math.Inf(1))
	}
}

// Foot implements Chart.
func (c *Space) Foot(dst, x []float64) bool {
	if c.creased {
		c.footOn = c.edge.foot(dst, x)
		c.footAt = [3]float64(dst)
		return true
	}
	e0, e1, e2 := (x[0]-c.o[0])/c.h, (x[1]-c.o[1])/c.h, (x[2]-c.o[2])/c.h
	a := c.u[0]*e0 + c.u[1]*e1 + c.u[2]*e2
	b := c.v[0]*e0 + c.v[1]*e1 + c.v[2]*e2
	z := c.n[0]*e0 + c.n[1]*e1 + c.n[2]*e2
	c.p, c.q = a, b
	c.keepWithin()
	value := c.misfit(c.p, c.q, a, b, z)
	for range footSteps {
		dp, dq, full := c.newton(a, b, z)
		square := dp*dp + dq*dq
		if !(square > footPrecision*footPrecision) {
			break
		}
		scale, done := 1.0, true
		for range 12 {
			p, q := c.p-scale*dp, c.q-scale*dq
			if next := c.misfit(p, q, a, b, z); next <= value {
				c.p, c.q, value, done = p, q, next, false
				break
			}
			scale /= 2
		}
		// What is left after a step of Newton is of the order of its square.
		if done || full && scale == 1 && square <= footPrecision {
			break
		}
	}
	c.keepWithin()
	c.point(dst)
	return !math.IsNaN(value)
}

func (c *Space) keepWithin() {
	if norm := math.Sqrt(c.p*c.p + c.q*c.q); norm > footReach {
		c.p *= footReach / norm
		c.q *= footReach / norm
	}
}

// misfit is the squared distance of the point over (p, q) from that of coordinates a, b, z.
func (c *Space) misfit(p, q, a, b, z float64) float64 {
	r := c.height(p, q) - z
	return (p-a)*(p-a) + (q-b)*(q-b) + r*r
}

// slope is the gradient of the height.
func (c *Space) slope() (byP, byQ float64) {
	b, p, q := &c.b, c.p, c.q
	return b[1] + 2*p*b[3] + q*b[4], b[2] + 2*q*b[5] + p*b[4]
}

// newton is the step to subtract: a Newton step if the Hessian is positive definite, as full reports, otherwise a
// Gauss-Newton step.
func (c *Space) newton(a, b, z float64) (dp, dq float64, full bool) {
	fp, fq := c.slope()
	r := c.height(c.p, c.q) - z
	gp, gq := c.p-a+r*fp, c.q-b+r*fq
	hpp, hpq, hqq := 1+fp*fp, fp*fq, 1+fq*fq
	fpp, fpq, fqq := hpp+2*r*c.b[3], hpq+r*c.b[4], hqq+2*r*c.b[5]
	if fpp > 0 && fpp*fqq-fpq*fpq > Singular*fpp*fqq {
		hpp, hpq, hqq, full = fpp, fpq, fqq, true
	}
	det := hpp*hqq - hpq*hpq
	return (hqq*gp - hpq*gq) / det, (hpp*gq - hpq*gp) / det, full
}

// point writes the last foot into dst.
func (c *Space) point(dst []float64) {
	z := c.height(c.p, c.q)
	for j := range c.o {
		dst[j] = c.o[j] + c.h*(c.p*c.u[j]+c.q*c.v[j]+z*c.n[j])
	}
}

// moveTo moves the origin to the last projection, with the tangent plane there.
func (c *Space) moveTo(foot [3]float64) bool {
	c.o = foot
	return c.turn()
}

// turn takes the tangent plane at the last foot.
func (c *Space) turn() bool {
	fp, fq := c.slope()
	u, v := c.u, c.v
	for j := range u {
		u[j] += fp * c.n[j]
		v[j] += fq * c.n[j]
	}
	norm := 1 / math.Sqrt(dense.Dot(u[:], u[:]))
	for j := range u {
		u[j] *= norm
	}
	along := dense.Dot(u[:], v[:])
	for j := range v {
		v[j] -= along * u[j]
	}
	norm = 1 / math.Sqrt(dense.Dot(v[:], v[:]))
	for j := range v {
		v[j] *= norm
	}
	c.u, c.v, c.n = u, v, cross(u, v)
	return !math.IsNaN(c.n[0] + c.n[1] + c.n[2])
}

// Influence implements Chart.
func (c *Space) Influence(k int) float64 {
	if c.creased {
		return c.fit.influence(c, k)
	}
	l := &c.lanes
	w := l.column(spaceUsed)[k]
	if !(w > 0) {
		return 0
	}
	s := c.solveAtFoot()
	p, q := l.column(spaceP)[k], l.column(spaceQ)[k]
	return w * (s[0] + p*(s[1]+p*s[3]+q*s[4]) + q*(s[2]+q*s[5]))
}

// Leverage implements Chart.
func (c *Space) Leverage() (square float64) {
	if c.creased {
		for k := range c.k {
			l := c.fit.influence(c, k) / creaseSought
			square += l * l
		}
		return square
	}
	s := c.solveAtFoot()
	return c.lanes.leverage(&s)
}

// solveAtFoot computes G^-1 psi at the last projection, using the factor of G from Solve.
func (c *Space) solveAtFoot() [spaceTerms]float64 {
	p, q := c.p, c.q
	s := [spaceTerms]float64{1, p, q, p * p, p * q, q * q}
	c.gram.solve(&s)
	return s
}

// Residuals implements Chart.
func (c *Space) Residuals(dst []float64) {
	if c.creased {
		for i := range dst {
			dst[i] = math.Sqrt(c.lanes.column(spaceSquare)[i])
		}
		return
	}
	p, q, z := c.lanes.column(spaceP), c.lanes.column(spaceQ), c.lanes.column(spaceZ)
	for i := range dst {
		dst[i] = c.h * math.Abs(z[i]-c.height(p[i], q[i]))
	}
}

// Noise implements Chart.
func (c *Space) Noise() float64 {
	if c.creased {
		return c.fit.noise(c.cut)
	}
	rest, total, square := c.lanes.spread(&c.b)
	return BeforeTukey(c.h*SpreadPerDirection(rest, total, square, spaceTerms, 1), c.cut, 1)
}

// Beside implements Chart.
func (c *Space) Beside(x []float64) float64 {
	if c.creased {
		var foot [3]float64
		c.edge.foot(foot[:], x)
		return rows.Distance(foot[:], x)
	}
	return c.h * math.Abs(c.beyond(x))
}

// beyond is the height of x over the chart, in units of h.
func (c *Space) beyond(x []float64) float64 {
	inverse := 1 / c.h // there is one for every chart that may be in a mean
	e0, e1, e2 := (x[0]-c.o[0])*inverse, (x[1]-c.o[1])*inverse, (x[2]-c.o[2])*inverse
	p := c.u[0]*e0 + c.u[1]*e1 + c.u[2]*e2
	q := c.v[0]*e0 + c.v[1]*e1 + c.v[2]*e2
	z := c.n[0]*e0 + c.n[1]*e1 + c.n[2]*e2
	return z - c.height(p, q)
}
