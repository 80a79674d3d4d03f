package chart

import (
	"math"

	"github.com/scqm/scqm/internal/dense"
)

// Where two faces meet, no quadratic chart fits both. Two half planes that end at their intersection have as many coefficients as one chart, and
// no bias on a straight crease. They are fitted by alternation: each row is assigned to the nearer half plane, and each plane is fitted to its
// rows by least squares, with the weights of the chart and Tukey weights.

const (
	// creaseTie raises the squared distances from the intersection of the half planes: otherwise rounding decides the side of
	// rows nearest to it.
	creaseTie = 1e-6
	// creaseBound is the distance, in units of the noise, at which distances are clipped to compare a crease with a chart, and creaseSure the number of standard
	// errors by which the crease must be nearer to the rows.
	creaseBound, creaseSure = 3.0, 2.5
	// creaseSought multiplies the influence that the moments of the faces give for a row, because rows also choose sides, and charts choose creases.
	creaseSought = 3.0
	// creaseReach is the size of a chart, in units of the noise, below which no crease is sought.
	creaseReach = 10.0
)

// creaseFit holds the buffers of the search for a crease, and its result.
type creaseFit struct {
	lanes  *spaceLanes
	table  creaseTable
	before []float64 // squared distances from the chart, clipped
	sum    float64   // of the squared distances from the crease, clipped
	faces  [2]face   // moments of the rows now on either side

	searched, found bool // among the rows at hand
	crease          crease
}

// face holds the weighted moments of the rows that are assigned to one half plane.
type face struct {
	total   float64
	mean    [3]float64
	scatter [6]float64 // about the mean, over the total: xx, xy, xz, yy, yz, zz
}

// TakeCrease replaces the solved chart by a crease if the rows are significantly nearer to the crease, given the noise of the setting, and reports whether it did.
// Charts of the same rows with other ridges are compared with the same crease.
func (c *Space) TakeCrease(s *Setting) bool {
	f := &c.fit
	if c.h < creaseReach*s.Scale || !f.begin(c, s) {
		return false
	}
	if !f.searched {
		f.searched = true
		f.found = f.search(c)
	}
	if !f.found || !f.surely() {
		return false
	}
	c.edge, c.creased = f.crease, true
	return true
}

// begin computes the distances from the chart. It returns false if noise explains them.
func (f *creaseFit) begin(c *Space, s *Setting) bool {
	variance := s.Scale * s.Scale
	f.lanes, f.before = &c.lanes, dense.Grow(f.before, c.k)
	f.table.origin, f.table.cut, f.table.bound = c.o, 1/(s.Cut*s.Cut), creaseBound*creaseBound*variance
	p, q, z := c.lanes.column(spaceP), c.lanes.column(spaceQ), c.lanes.column(spaceZ)
	var rest, total float64
	for i, w := range c.lanes.column(spaceWeight)[:c.k] {
		byP, byQ := c.b[1]+2*p[i]*c.b[3]+q[i]*c.b[4], c.b[2]+2*q[i]*c.b[5]+p[i]*c.b[4]
		r := c.h * (z[i] - c.height(p[i], q[i]))
		f.before[i] = min(r*r/(1+byP*byP+byQ*byQ), f.table.bound)
		rest += w * f.before[i]
		total += w
	}
	return rest > 1.2*variance*total
}

// search returns the crease of the least sum of squared distances from several starts, refined.
func (f *creaseFit) search(c *Space) bool {
	axis := c.bendsAlong()
	var best crease
	least := math.Inf(1)
	for _, start := range []float64{-.294, .006, .306} { // offsets of the first cut, none of them at the row at the origin
		f.cutAt(&axis, start*c.h, c.h)
		if k, ok := f.turns(&c.n, 3); ok && f.sum < least {
			best, least = k, f.sum
		}
	}
	if math.IsInf(least, 1) {
		return false
	}
	f.assign(&best)
	var ok bool
	f.crease, ok = f.turns(&c.n, 8)
	return ok
}

// bendsAlong returns the tangent direction in which the curvature of the chart is largest in magnitude.
func (c *Space) bendsAlong() (axis [3]float64) {
	// Half of the angle of the Hessian (2b3, b4; b4, 2b5) is the direction of its larger eigenvalue, which has the larger magnitude if the trace is
	// positive.
	angle := .5 * math.Atan2(c.b[4], c.b[3]-c.b[5])
	if c.b[3]+c.b[5] < 0 {
		angle += math.Pi / 2
	}
	sin, cos := math.Sincos(angle)
	for j := range axis {
		axis[j] = cos*c.u[j] + sin*c.v[j]
	}
	return axis
}

// cutAt assigns each row to the nearer of the planes axis'x = from - apart and axis'x = from + apart, x relative to
// the origin.
func (f *creaseFit) cutAt(axis *[3]float64, from, apart float64) {
	t := f.table
	t.normal, t.height = [2][3]float64{*axis, *axis}, [2]float64{from - apart, from + apart}
	t.cosine, t.sine, t.cut = 0, 0, 0
	f.divide(&t)
}

// divide assigns each row to the nearer half plane, and computes the moments of both sides and the sum of squared
// distances.
func (f *creaseFit) divide(t *creaseTable) {
	l := f.lanes
	l.assign(t)
	for i := range 10 {
		l.totals[i] -= l.totals[10+i]
	}
	f.faces[0].take(l.totals[:10], &t.origin)
	f.faces[1].take(l.totals[10:20], &t.origin)
	f.sum = l.totals[20]
}

// take computes the moments from the sums t of the rows relative to o.
func (a *face) take(t []float64, o *[3]float64) {
	a.total = t[0]
	inverse := 1 / t[0]
	x, y, z := t[1]*inverse, t[2]*inverse, t[3]*inverse
	a.mean = [3]float64{o[0] + x, o[1] + y, o[2] + z}
	a.scatter = [6]float64{t[4]*inverse - x*x, t[5]*inverse - x*y, t[6]*inverse - x*z, t[7]*inverse - y*y, t[8]*inverse - y*z, t[9]*inverse - z*z}
}

// turns alternates between fitting the planes and assigning the rows, until the distances hardly decrease.
func (f *creaseFit) turns(first *[3]float64, steps int) (k crease, ok bool) {
	k.normal = [2][3]float64{*first, *first}
	for before := math.Inf(1); steps > 0; steps-- {
		if !f.planes(&k) {
			return k, false
		}
		if f.assign(&k); f.sum > 0.997*before {
			break
		}
		before = f.sum
	}
	return k, true
}

// planes fits a plane to each side and intersects the two. It returns false if a side has too few rows or the
// planes are almost parallel.
func (f *creaseFit) planes(k *crease) bool {
	all := f.faces[0].total + f.faces[1].total
	for s := range f.faces {
		if !(f.faces[s].total > 0.1*all) { // hardly a face
			return false
		}
		f.faces[s].normal(&k.normal[s])
	}
	for s := range f.faces {
		n := &k.normal[s]
		if inner(n, &f.faces[1-s].mean) > inner(n, &f.faces[s].mean) {
			for j := range n {
				n[j] = -n[j]
			}
		}
	}
	k.cosine = inner(&k.normal[0], &k.normal[1])
	if !(math.Abs(k.cosine) < 0.9) { // hardly an edge
		return false
	}
	// The point of the intersection that is nearest to the mean of all rows.
	for j := range k.at {
		k.at[j] = (f.faces[0].total*f.faces[0].mean[j] + f.faces[1].total*f.faces[1].mean[j]) / all
	}
	a, b := k.meet(inner(&k.normal[0], &k.at)-inner(&k.normal[0], &f.faces[0].mean), inner(&k.normal[1], &k.at)-inner(&k.normal[1], &f.faces[1].mean))
	for j := range k.at {
		k.at[j] -= a*k.normal[0][j] + b*k.normal[1][j]
	}
	return true
}

// normal improves the normal n of the plane by power iterations with the adjugate of the scatter matrix, whose
// leading eigenvector is the normal.
func (a *face) normal(n *[3]float64) {
	xx, xy, xz, yy, yz, zz := a.scatter[0], a.scatter[1], a.scatter[2], a.scatter[3], a.scatter[4], a.scatter[5]
	m := [6]float64{yy*zz - yz*yz, xz*yz - xy*zz, xy*yz - xz*yy, xx*zz - xz*xz, xy*xz - xx*yz, xx*yy - xy*xy}
	for range 4 {
		v := [3]float64{m[0]*n[0] + m[1]*n[1] + m[2]*n[2], m[1]*n[0] + m[3]*n[1] + m[4]*n[2], m[2]*n[0] + m[4]*n[1] + m[5]*n[2]}
		inverse := 1 / math.Sqrt(inner(&v, &v))
		for j := range n {
			n[j] = v[j] * inverse
		}
	}
}

// assign assigns each row to the nearer half plane of k, and computes Tukey weights.
func (f *creaseFit) assign(k *crease) {
	t := &f.table
	t.normal, t.cosine, t.sine = k.normal, k.cosine, k.sine()
	for s := range t.height {
		t.height[s] = inner(&k.normal[s], &k.at) - inner(&k.normal[s], &t.origin)
	}
	f.divide(t)
}

// surely reports whether the rows are significantly nearer to the crease than to the chart.
func (f *creaseFit) surely() bool {
	var sum, square float64
	weight, squares := f.lanes.column(spaceWeight), f.lanes.column(spaceSquare)
	for i, v := range f.before {
		d := weight[i] * (v - min(squares[i], f.table.bound))
		sum += d
		square += d * d
	}
	return sum > 0 && sum*sum > creaseSure*creaseSure*square
}

// influence is the influence of row i on the last projection, through the half plane nearer to the row.
func (f *creaseFit) influence(c *Space, i int) float64 {
	w := f.lanes.column(spaceCreased)[i]
	if !(w > 0) {
		return 0
	}
	x, y, z := f.lanes.three()
	row := [3]float64{x[i], y[i], z[i]}
	side := c.edge.side(&row)
	if !c.footOn[side] {
		return 0
	}
	a := &f.faces[side]
	return creaseSought * w / a.total * (1 + a.leverage(&c.edge.normal[side], c.footAt, row))
}

// leverage is the inner product of x and y, relative to the mean, in the metric of the inverse scatter along the
// plane.
func (a *face) leverage(n *[3]float64, x, y [3]float64) float64 {
	u := perpendicular(n)
	v := cross(*n, u)
	for j := range x {
		x[j] -= a.mean[j]
		y[j] -= a.mean[j]
	}
	uu, uv, vv := a.along(&u, &u), a.along(&u, &v), a.along(&v, &v)
	xu, xv, yu, yv := inner(&u, &x), inner(&v, &x), inner(&u, &y), inner(&v, &y)
	return (xu*(vv*yu-uv*yv) + xv*(uu*yv-uv*yu)) / (uu*vv - uv*uv)
}

// along is u'Sv for the scatter matrix S.
func (a *face) along(u, v *[3]float64) float64 {
	s := &a.scatter
	return u[0]*(s[0]*v[0]+s[1]*v[1]+s[2]*v[2]) + u[1]*(s[1]*v[0]+s[3]*v[1]+s[4]*v[2]) + u[2]*(s[2]*v[0]+s[4]*v[1]+s[5]*v[2])
}

// noise is the standard deviation of the distances of the rows from the crease, corrected for Tukey weights with
// the given cut.
func (f *creaseFit) noise(cut float64) float64 {
	var rest, total, square float64
	squares := f.lanes.column(spaceSquare)
	for i, w := range f.lanes.column(spaceCreased) {
		rest += w * squares[i]
		total += w
		square += w * w
	}
	return BeforeTukey(SpreadPerDirection(rest, total, square, spaceTerms, 1), cut, 1)
}
