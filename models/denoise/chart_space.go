package denoise

import (
	"math"

	"github.com/scqm/scqm/internal/dense"
)

// spaceChart is a [chart] of a surface in three dimensions, for which all sums are a few
// moments of the two coordinates: 15 of products of degree up to 4 and 6 of heights,
// in place of the 39 products that a chart in general adds up.
//
//	f(p, q) = o + h (p u + q v + (b'psi(p, q)) n),   psi = (1, p, q, p^2, pq, q^2)
type spaceChart struct {
	o, u, v, n [3]float64
	h          float64
	b          [spaceTerms]float64

	p, q    float64 // coordinates of the last foot
	k       int     // rows
	cut     float64 // of their loss
	rows    []spaceRow
	moments [15]float64             // of p^a q^b, by degree and then b
	heights [spaceTerms]float64     // of psi and the height
	gram    [spaceTerms * 6]float64 // with the ridge, and then its factor
}

// spaceTerms is the number of functions.
const spaceTerms = 6

// spaceRow is a row by its place over the plane and its height, in units of h.
type spaceRow struct {
	p, q, z      float64
	weight, used float64 // before and after reweighting
}

// spaceMoment is the number of the moment of psi_i psi_j.
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

func (c *spaceChart) width() int { return 3 + 6 + 1 + spaceTerms }

func (c *spaceChart) store(to []float64) {
	copy(to, c.o[:])
	copy(to[3:], c.u[:])
	copy(to[6:], c.v[:])
	to[9] = c.h
	copy(to[10:], c.b[:])
}

func (c *spaceChart) load(from []float64) bool {
	c.o, c.u, c.v = [3]float64(from), [3]float64(from[3:]), [3]float64(from[6:])
	c.h, c.b = from[9], [spaceTerms]float64(from[10:])
	c.n = cross(c.u, c.v)
	return c.h > 0
}

func cross(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// prepare implements charter.
func (c *spaceChart) prepare(o, pivot []float64, r *chartRows, s *setting) bool {
	c.k = len(r.prior)
	if !(r.next > 0) {
		return false
	}
	var before spaceChart
	if s.grown {
		before = *c
	}
	c.h, c.o, c.cut = r.next, [3]float64(o), s.cut
	if cap(c.rows) < c.k {
		c.rows = make([]spaceRow, c.k)
	}
	c.rows = c.rows[:c.k]
	r.weigh(func(i int, weight, used float64) { c.rows[i].weight, c.rows[i].used = weight, used })
	cut := s.cut / c.h
	if s.grown {
		c.u, c.v, c.n = before.u, before.v, before.n
		if !c.onSide(&before, r.x) {
			return false
		}
	} else if !c.findPlane(r.near) {
		return false
	}
	var foot [3]float64
	for round := range s.rounds {
		c.coordinates(r.x)
		c.addUp()
		for step := 0; round == 0 && step < s.steps; step++ {
			if !c.solve(s.ridge) {
				return false
			}
			c.reweigh(cut)
			c.addUp()
		}
		if round == s.rounds-1 {
			break
		}
		if !c.solve(s.ridge) {
			return false
		}
		c.reweigh(cut)
		if !c.foot(foot[:], pivot) || !c.moveTo(foot) {
			return false
		}
	}
	return c.moments[0] > 0
}

// onSide takes Tukey's weights by the distances of rows from the chart before. It is false
// where no row is on its side.
func (c *spaceChart) onSide(before *spaceChart, x []float64) bool {
	left := 0.0
	for i := range c.rows {
		row := &c.rows[i]
		far := before.beside(x[3*i:3*i+3]) / c.cut
		row.used = row.weight * tukey(far*far)
		left += row.used
	}
	return left > 0
}

// findPlane finds the plane of the largest variance of the places near.
func (c *spaceChart) findPlane(near []float64) bool {
	var sum float64
	var mean [3]float64
	for i, row := range c.rows {
		x := near[3*i : 3*i+3]
		sum += row.weight
		for j := range mean {
			mean[j] += row.weight * (x[j] - c.o[j])
		}
	}
	if !(sum > 0) {
		return false
	}
	var a, v [9]float64
	for j := range mean {
		mean[j] = mean[j]/sum + c.o[j]
	}
	for i, row := range c.rows {
		if w := row.weight; w > 0 {
			x := near[3*i : 3*i+3]
			d0, d1, d2 := x[0]-mean[0], x[1]-mean[1], x[2]-mean[2]
			a[0] += w * d0 * d0
			a[1] += w * d0 * d1
			a[2] += w * d0 * d2
			a[4] += w * d1 * d1
			a[5] += w * d1 * d2
			a[8] += w * d2 * d2
		}
	}
	a[3], a[6], a[7] = a[1], a[2], a[5]
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
	if !(a[4*middle] > rank*total) {
		return false
	}
	most := 3 - least - middle
	c.u, c.v = [3]float64(v[3*most:]), [3]float64(v[3*middle:])
	c.n = cross(c.u, c.v)
	return true
}

// coordinates takes the rows apart into their places over the plane and their heights.
func (c *spaceChart) coordinates(x []float64) {
	unit := 1 / c.h
	for i := range c.rows {
		row, at := &c.rows[i], x[3*i:3*i+3]
		e0, e1, e2 := (at[0]-c.o[0])*unit, (at[1]-c.o[1])*unit, (at[2]-c.o[2])*unit
		row.p = c.u[0]*e0 + c.u[1]*e1 + c.u[2]*e2
		row.q = c.v[0]*e0 + c.v[1]*e1 + c.v[2]*e2
		row.z = c.n[0]*e0 + c.n[1]*e1 + c.n[2]*e2
	}
}

// addUp adds up the moments.
func (c *spaceChart) addUp() {
	var m [15]float64
	var r [spaceTerms]float64
	for i := range c.rows {
		row := &c.rows[i]
		w := row.used
		if !(w > 0) {
			continue
		}
		p, q := row.p, row.q
		pp, pq, qq := p*p, p*q, q*q
		wp, wq := w*p, w*q
		wpp, wpq, wqq := w*pp, w*pq, w*qq
		m[0] += w
		m[1] += wp
		m[2] += wq
		m[3] += wpp
		m[4] += wpq
		m[5] += wqq
		m[6] += wpp * p
		m[7] += wpp * q
		m[8] += wqq * p
		m[9] += wqq * q
		m[10] += wpp * pp
		m[11] += wpp * pq
		m[12] += wpp * qq
		m[13] += wqq * pq
		m[14] += wqq * qq
		z := row.z
		r[0] += w * z
		r[1] += wp * z
		r[2] += wq * z
		r[3] += wpp * z
		r[4] += wpq * z
		r[5] += wqq * z
	}
	c.moments, c.heights = m, r
}

// solve implements charter.
func (c *spaceChart) solve(ridge float64) bool {
	for i := range spaceTerms {
		for j := range i + 1 {
			c.gram[i*spaceTerms+j] = c.moments[spaceMoment[i][j]]
		}
	}
	total := c.moments[0]
	if !(total > 0) {
		return false
	}
	size := (c.moments[3] + c.moments[5]) / total / 2
	for i := 3; i < spaceTerms; i++ {
		c.gram[i*spaceTerms+i] += ridge * total * size * size
	}
	if !dense.FactorCholesky(c.gram[:], spaceTerms, 0, singular) {
		return false
	}
	c.b = c.heights
	dense.SolveCholesky(c.b[:], c.gram[:], spaceTerms)
	return true
}

// height is that of the chart at a place.
func (c *spaceChart) height(p, q float64) float64 {
	b := &c.b
	return b[0] + p*(b[1]+p*b[3]+q*b[4]) + q*(b[2]+q*b[5])
}

// reweigh takes Tukey's weights of the residuals, unless little is left.
func (c *spaceChart) reweigh(cut float64) {
	if math.IsInf(cut, 1) {
		return
	}
	square := 1 / (cut * cut)
	var all, left float64
	for i := range c.rows {
		row := &c.rows[i]
		r := row.z - c.height(row.p, row.q)
		row.used = row.weight * tukey(r*r*square)
		all += row.weight
		left += row.used
	}
	if left > leastTrusted*all {
		return
	}
	for i := range c.rows {
		c.rows[i].used = c.rows[i].weight
	}
}

// foot implements charter.
func (c *spaceChart) foot(dst, x []float64) bool {
	e0, e1, e2 := (x[0]-c.o[0])/c.h, (x[1]-c.o[1])/c.h, (x[2]-c.o[2])/c.h
	a := c.u[0]*e0 + c.u[1]*e1 + c.u[2]*e2
	b := c.v[0]*e0 + c.v[1]*e1 + c.v[2]*e2
	z := c.n[0]*e0 + c.n[1]*e1 + c.n[2]*e2
	c.p, c.q = a, b
	c.keepWithin()
	value := c.misfit(c.p, c.q, a, b, z)
	for range footSteps {
		dp, dq := c.newton(a, b, z)
		if !(dp*dp+dq*dq > footPrecision*footPrecision) {
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
		if done {
			break
		}
	}
	c.keepWithin()
	c.point(dst)
	return !math.IsNaN(value)
}

func (c *spaceChart) keepWithin() {
	if norm := math.Sqrt(c.p*c.p + c.q*c.q); norm > footReach {
		c.p *= footReach / norm
		c.q *= footReach / norm
	}
}

// misfit is the squared distance of the point over (p, q) from that of coordinates a, b, z.
func (c *spaceChart) misfit(p, q, a, b, z float64) float64 {
	r := c.height(p, q) - z
	return (p-a)*(p-a) + (q-b)*(q-b) + r*r
}

// slope is that of the height.
func (c *spaceChart) slope() (byP, byQ float64) { return c.slopeAt(c.p, c.q) }

func (c *spaceChart) slopeAt(p, q float64) (byP, byQ float64) {
	b := &c.b
	return b[1] + 2*p*b[3] + q*b[4], b[2] + 2*q*b[5] + p*b[4]
}

// newton is the step to take off: that of Newton where the Hessian is positive definite,
// else that of Gauss and Newton.
func (c *spaceChart) newton(a, b, z float64) (dp, dq float64) {
	fp, fq := c.slope()
	r := c.height(c.p, c.q) - z
	gp, gq := c.p-a+r*fp, c.q-b+r*fq
	hpp, hpq, hqq := 1+fp*fp, fp*fq, 1+fq*fq
	fpp, fpq, fqq := hpp+2*r*c.b[3], hpq+r*c.b[4], hqq+2*r*c.b[5]
	if fpp > 0 && fpp*fqq-fpq*fpq > singular*fpp*fqq {
		hpp, hpq, hqq = fpp, fpq, fqq
	}
	det := hpp*hqq - hpq*hpq
	return (hqq*gp - hpq*gq) / det, (hpp*gq - hpq*gp) / det
}

// point writes the last foot into dst.
func (c *spaceChart) point(dst []float64) {
	z := c.height(c.p, c.q)
	for j := range c.o {
		dst[j] = c.o[j] + c.h*(c.p*c.u[j]+c.q*c.v[j]+z*c.n[j])
	}
}

// moveTo takes the last foot for the origin, and the tangent there.
func (c *spaceChart) moveTo(foot [3]float64) bool {
	c.o = foot
	return c.turn()
}

// turn takes the tangent plane at the last foot.
func (c *spaceChart) turn() bool {
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

// influences implements charter.
func (c *spaceChart) influences(dst []float64) {
	s := c.solveAtFoot()
	for i := range c.rows {
		dst[i] = c.rows[i].weighFunctions(&s)
	}
}

// influence implements charter.
func (c *spaceChart) influence(k int) float64 {
	s := c.solveAtFoot()
	return c.rows[k].weighFunctions(&s)
}

// solveAtFoot is G^-1 psi at the last foot, G being the factor that solve has left.
func (c *spaceChart) solveAtFoot() [spaceTerms]float64 {
	p, q := c.p, c.q
	s := [spaceTerms]float64{1, p, q, p * p, p * q, q * q}
	dense.SolveCholesky(s[:], c.gram[:], spaceTerms)
	return s
}

// weighFunctions is the weight times s'psi.
func (r *spaceRow) weighFunctions(s *[spaceTerms]float64) float64 {
	if !(r.used > 0) {
		return 0
	}
	p, q := r.p, r.q
	return r.used * (s[0] + p*(s[1]+p*s[3]+q*s[4]) + q*(s[2]+q*s[5]))
}

// residuals implements charter.
func (c *spaceChart) residuals(dst []float64) {
	for i := range dst {
		row := &c.rows[i]
		dst[i] = c.h * math.Abs(row.z-c.height(row.p, row.q))
	}
}

// noise implements charter.
func (c *spaceChart) noise() float64 {
	var rest, total, square float64
	for i := range c.rows {
		row := &c.rows[i]
		if w := row.used; w > 0 {
			r := row.z - c.height(row.p, row.q)
			fp, fq := c.slopeAt(row.p, row.q)
			rest += w * r * r / (1 + fp*fp + fq*fq)
			total += w
			square += w * w
		}
	}
	return beforeTukey(c.h*spreadPerDirection(rest, total, square, spaceTerms, 1), c.cut, 1)
}

// beside implements charter.
func (c *spaceChart) beside(x []float64) float64 {
	e0, e1, e2 := (x[0]-c.o[0])/c.h, (x[1]-c.o[1])/c.h, (x[2]-c.o[2])/c.h
	p := c.u[0]*e0 + c.u[1]*e1 + c.u[2]*e2
	q := c.v[0]*e0 + c.v[1]*e1 + c.v[2]*e2
	z := c.n[0]*e0 + c.n[1]*e1 + c.n[2]*e2
	return c.h * math.Abs(z-c.height(p, q))
}

// along implements charter.
func (c *spaceChart) along(dst, x []float64) {
	a := c.u[0]*x[0] + c.u[1]*x[1] + c.u[2]*x[2]
	b := c.v[0]*x[0] + c.v[1]*x[1] + c.v[2]*x[2]
	for j := range c.u {
		dst[j] = a*c.u[j] + b*c.v[j]
	}
}
