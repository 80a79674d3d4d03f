package denoise

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// setting is what the charts of one fit have in common.
type setting struct {
	neighbors int
	ridge     float64
	scale     float64 // standard deviation of the noise
	cut       float64 // norm of a residual from which on it does not count; Inf for least squares
	// rounds is the number of times that a chart is placed, the first time at the point given
	// and then at the foot of its row; steps that of reweightings in the first round.
	rounds, steps int
	// pilot makes charts of more neighbours where these are hardly further than the noise,
	// and, where it is uneven, finds the noise about each row.
	pilot, uneven bool
	noisy         bool // beyond what charts differ from the surface by
	least         int  // neighbours that any chart has
	// between says that charts lie between two sheets, and rows are better left as they are.
	between bool
	// sides is the distance of the two sides of a thin sheet from the surface between them, where charts lie there;
	// 0 where they do not.
	sides float64
	// thin looks for thin parts, by what has been measured. start is the number of neighbours of the chart that others grow from
	// in these, 0 elsewhere. grown begins with the chart at hand, its plane and the weights that rows have by it.
	thin  bool
	start int
	grown bool
	// pooled is the most neighbours of a chart where curvature is pooled, 0 where it is not; then drawn draws that of
	// a chart to the mean of those of the charts of its rows.
	pooled int
	drawn  bool
}

// charter makes charts, one at a time, in memory of its own.
type charter interface {
	// prepare makes the sums of the chart at the point o for the row pivot, from rows that
	// have been gathered. It is false where they determine no surface.
	prepare(o, pivot []float64, r *chartRows, s *setting) bool
	// solve makes the chart of these sums with a ridge.
	solve(ridge float64) bool
	// foot writes the point of the chart nearest to x into dst.
	foot(dst, x []float64) bool
	// influences writes l_k into dst: the last foot moves at right angles to the chart by the
	// sum of l_k times the moves of the rows. The chart must have been solved.
	influences(dst []float64)
	// influence is that of one row.
	influence(k int) float64
	// residuals writes the distances of the rows from the chart into dst.
	residuals(dst []float64)
	// noise estimates its standard deviation, in each direction, by the residuals.
	noise() float64
	// along writes the part of a vector along the plane of the chart into dst.
	along(dst, x []float64)
	// beside is the distance of x from the point of the chart above its place.
	beside(x []float64) float64
	// width is how many numbers store writes, from which load makes the chart anew but for
	// its sums; it is false where there is none.
	width() int
	store(to []float64)
	// bend writes how a stored chart bends.
	bend(dst bend, from []float64)
	load(from []float64) bool
}

// newCharter makes charts of dimension d of rows of length D.
func newCharter(D, d int) charter {
	if D == 3 && d == 2 {
		return &spaceChart{}
	}
	return newChart(D, d)
}

const (
	// robustSteps is the number of reweightings that Tukey's loss begins with.
	robustSteps = 2
	// footSteps bounds Newton's method for the foot of a row, footPrecision is
	// the length of its last step in units of the chart.
	footSteps     = 12
	footPrecision = 1e-9
	// footReach is the distance from the origin, in units of the distance of
	// the first row left out, that feet are kept within.
	footReach = 1.5
	// minShrinkage bounds that of distances from charts from below.
	minShrinkage = 0.2
)

// chart is a quadratic surface over a tangent plane,
//
//	f(t) = o + h U't + B'psi(t),   psi = (1, t_i, t_i t_j),
//
// by weighted regression of the rows near by on the coordinates that the
// plane gives them. The coordinates are not fitted, and cannot follow the noise.
type chart struct {
	d, D, p int
	frame   *frame
	sums    *regression
	o       []float64 // D
	u       []float64 // d x D: axes of the plane
	b       []float64 // p x D: coefficients, at right angles to the plane
	unit    float64   // h

	psi     []float64 // K x p
	terms   []float64 // K x len(sum): what a row adds to the sums of the regression
	sum     []float64 // packed psi psi' and psi v'
	v       []float64 // K x D: rows from the plane
	weights []float64 // K: before reweighting
	used    []float64 // K
	k       int
	cut     float64
	drawn   []float64 // d(d+1)/2 x D: coefficients that the ridge draws to; nil is 0

	t, trial, g, step []float64 // d
	h                 []float64 // d x d
	jac               []float64 // d x D
	at, diff, middle  []float64 // D
	values            []float64 // p
}

func newChart(D, d int) *chart {
	p := quadratics(d)
	vec := func(n int) []float64 { return make([]float64, n) }
	return &chart{
		d: d, D: D, p: p, frame: newFrame(D, d), sums: newRegression(p, D),
		o: vec(D), u: vec(d * D), b: vec(p * D), sum: vec(p*(p+1)/2 + p*D),
		t: vec(d), trial: vec(d), g: vec(d), step: vec(d), h: vec(d * d), jac: vec(d * D), at: vec(D), diff: vec(D), middle: vec(D), values: vec(p),
	}
}

func (c *chart) room(k int) {
	if len(c.used) >= k {
		return
	}
	c.psi, c.v = make([]float64, k*c.p), make([]float64, k*c.D)
	c.terms = make([]float64, k*len(c.sum))
	c.weights, c.used = make([]float64, k), make([]float64, k)
}

// prepare implements charter.
func (c *chart) prepare(o, pivot []float64, r *chartRows, s *setting) bool {
	k := len(r.prior)
	if !(r.next > 0) {
		return false
	}
	c.room(k)
	c.k, c.unit, c.cut = k, r.next, s.cut
	r.weigh(func(i int, weight, used float64) { c.weights[i], c.used[i] = weight, used })
	if !c.frame.find(r.near, c.weights[:k]) {
		return false
	}
	copy(c.o, o)
	copy(c.u, c.frame.axes)
	for round := range s.rounds {
		c.drawTo(r.bends)
		c.coordinates(r.x, k)
		c.addUp()
		for step := 0; round == 0 && step < s.steps; step++ {
			if !c.solve(s.ridge) {
				return false
			}
			c.reweigh(s.cut)
			c.addUp()
		}
		if round == s.rounds-1 {
			break
		}
		if !c.solve(s.ridge) {
			return false
		}
		c.reweigh(s.cut)
		if !c.foot(c.middle, pivot) || !c.moveTo(c.middle) {
			return false
		}
	}
	return c.sum[0] > 0
}

// coordinates splits the rows into psi and the part at right angles to the
// plane.
func (c *chart) coordinates(x []float64, k int) {
	D, d := c.D, c.d
	for i := range k {
		v := c.v[i*D : (i+1)*D]
		row := x[i*D : (i+1)*D]
		for j := range v {
			v[j] = row[j] - c.o[j]
		}
		for a := range d {
			c.t[a] = dense.Dot(c.u[a*D:(a+1)*D], v)
		}
		for a := range d {
			floats.AddScaled(v, -c.t[a], c.u[a*D:(a+1)*D])
			c.t[a] /= c.unit
		}
		psi := c.psi[i*c.p : (i+1)*c.p]
		quadratic(psi, c.t)
		multiply(c.terms[i*len(c.sum):(i+1)*len(c.sum)], psi, v)
	}
}

// multiply writes the lower triangle of psi psi' and then psi v' into dst. Three
// regressions share them.
func multiply(dst, psi, v []float64) {
	at := 0
	for i, f := range psi {
		for _, g := range psi[:i+1] {
			dst[at] = f * g
			at++
		}
	}
	for _, f := range psi {
		for _, g := range v {
			dst[at] = f * g
			at++
		}
	}
}

// unpack takes the sums for those of the regression.
func (c *chart) unpack() {
	at := 0
	for i := range c.p {
		at += copy(c.sums.g[i*c.p:i*c.p+i+1], c.sum[at:])
	}
	copy(c.sums.r, c.sum[at:])
}

// addUp adds up the sums of the regression.
func (c *chart) addUp() {
	clear(c.sum)
	for i, w := range c.used[:c.k] {
		if w > 0 {
			floats.AddScaled(c.sum, w, c.terms[i*len(c.sum):(i+1)*len(c.sum)])
		}
	}
}

// solve implements charter.
func (c *chart) solve(ridge float64) bool {
	c.unpack()
	total, size := c.sum[0], 0.0
	for a := 1; a <= c.d; a++ {
		size += c.sums.g[a*c.p+a]
	}
	if !(total > 0) {
		return false
	}
	m := size / total / float64(c.d)
	c.sums.penalise(1+c.d, ridge*total*m*m)
	if c.drawn != nil {
		floats.AddScaled(c.sums.r[(1+c.d)*c.D:], ridge*total*m*m, c.drawn)
	}
	return c.sums.solve(c.b)
}

// reweigh takes Tukey's weights w (1-(r/cut)^2)^2 for residuals of norm r, unless little is
// left.
func (c *chart) reweigh(cut float64) {
	if math.IsInf(cut, 1) {
		return
	}
	var all, left float64
	for i := range c.k {
		if c.weights[i] > 0 {
			c.used[i] = c.weights[i] * tukey(c.residual(i)/(cut*cut))
			all += c.weights[i]
			left += c.used[i]
		}
	}
	if !(left > leastTrusted*all) {
		copy(c.used[:c.k], c.weights[:c.k])
	}
}

// tukey is Tukey's weight at the square of a residual in units of the cut.
func tukey(u float64) float64 {
	if !(u < 1) {
		return 0
	}
	return (1 - u) * (1 - u)
}

// residual is the square of the distance of row i from the surface above its
// place.
func (c *chart) residual(i int) float64 {
	D := c.D
	psi := c.psi[i*c.p : (i+1)*c.p]
	var square float64
	for l, v := range c.v[i*D : (i+1)*D] {
		at := l
		for _, f := range psi {
			v -= f * c.b[at]
			at += D
		}
		square += v * v
	}
	return square
}

// residuals implements charter.
func (c *chart) residuals(dst []float64) {
	for i := range dst {
		dst[i] = math.Sqrt(c.residual(i))
	}
}

// noise implements charter.
func (c *chart) noise() float64 { return c.spread(c.k, c.cut) }

// fit makes the chart at the point o of the rows of x, K x D, for the row pivot, and writes
// its foot into dst. near are the places of the same rows, with the distance next of the first
// row left out; prior are the weights of the rows. It is false where the rows determine
// no surface; then dst is o.
func (c *chart) fit(dst, o, pivot, x, near, prior []float64, next float64, s *setting) bool {
	copy(dst, o)
	k := len(prior)
	if !(next > 0) {
		return false
	}
	c.room(k)
	c.k, c.unit, c.cut = k, next, s.cut
	for i := range k {
		c.weights[i] = prior[i] * tricube(distance(near[i*c.D:(i+1)*c.D], o)/next)
	}
	if !c.frame.find(near, c.weights[:k]) {
		return false
	}
	copy(c.o, o)
	copy(c.u, c.frame.axes)
	for round := range s.rounds {
		c.coordinates(x, k)
		copy(c.used[:k], c.weights[:k])
		for step := 0; ; step++ {
			c.addUp()
			if !c.solve(s.ridge) {
				return false
			}
			if step == s.steps || math.IsInf(s.cut, 1) {
				break
			}
			for i := range k {
				c.used[i] = c.weights[i] * tukey(c.residual(i)/(s.cut*s.cut))
			}
		}
		if !c.foot(dst, pivot) || round < s.rounds-1 && !c.moveTo(dst) {
			return false
		}
	}
	return true
}

// influences implements charter: the weights are w_k psi_k'G^-1 psi.
func (c *chart) influences(dst []float64) {
	c.solveAtFoot()
	for i := range c.k {
		dst[i] = c.weighFunctions(i)
	}
}

// influence implements charter.
func (c *chart) influence(k int) float64 {
	c.solveAtFoot()
	return c.weighFunctions(k)
}

// solveAtFoot leaves G^-1 psi of the last foot in values.
func (c *chart) solveAtFoot() {
	quadratic(c.values, c.t)
	dense.SolveCholeskyRows(c.values, c.sums.g, c.p, 1) // the factor of G that solve has left
}

// weighFunctions is w_k psi_k' times what solveAtFoot has left.
func (c *chart) weighFunctions(k int) float64 {
	if w := c.used[k]; w > 0 {
		return w * dense.Dot(c.psi[k*c.p:(k+1)*c.p], c.values)
	}
	return 0
}

// shrinkage is the factor by which a chart, being pulled towards its own row, shortens
// the distance of that row from it: the root of 1 - 2 l_own + sum l_k^2, l being the
// influences. own is the place of the row among them.
func shrinkage(l []float64, own int) float64 {
	square := 1.0
	for i, v := range l {
		square += v * v
		if i == own {
			square -= 2 * v
		}
	}
	return math.Sqrt(max(square, minShrinkage*minShrinkage))
}

// width implements charter.
func (c *chart) width() int { return c.D*(1+c.d+c.p) + 1 }

// store implements charter.
func (c *chart) store(to []float64) {
	n := copy(to, c.o)
	n += copy(to[n:], c.u)
	n += copy(to[n:], c.b)
	to[n] = c.unit
}

// load implements charter.
func (c *chart) load(from []float64) bool {
	n := copy(c.o, from)
	n += copy(c.u, from[n:])
	n += copy(c.b, from[n:])
	c.unit = from[n]
	return c.unit > 0
}

// along implements charter.
func (c *chart) along(dst, x []float64) {
	clear(dst)
	for a := range c.d {
		axis := c.u[a*c.D : (a+1)*c.D]
		floats.AddScaled(dst, dense.Dot(axis, x), axis)
	}
}

// beside implements charter.
func (c *chart) beside(x []float64) float64 {
	floats.SubTo(c.diff, x, c.o)
	for a := range c.d {
		c.trial[a] = dense.Dot(c.u[a*c.D:(a+1)*c.D], c.diff) / c.unit
	}
	return math.Sqrt(c.misfit(x, c.trial))
}

// point writes f(t) into dst.
func (c *chart) point(dst, t []float64) {
	quadratic(c.values, t)
	copy(dst, c.o)
	for a, v := range t {
		floats.AddScaled(dst, v*c.unit, c.u[a*c.D:(a+1)*c.D])
	}
	for i, v := range c.values {
		floats.AddScaled(dst, v, c.b[i*c.D:(i+1)*c.D])
	}
}

// foot implements charter.
func (c *chart) foot(dst, x []float64) bool {
	ok := c.findFoot(x)
	c.point(dst, c.t)
	return ok
}

// findFoot leaves in t the place of the point of the chart nearest to x, by
// Newton's method with halved steps from the place of x. The solver of nearest points on
// models takes sheets with orthonormal axes and a curvature at right angles to them; a
// chart has neither, and to make it one costs more than its two or three steps.
func (c *chart) findFoot(x []float64) bool {
	floats.SubTo(c.diff, x, c.o)
	for a := range c.d {
		c.t[a] = dense.Dot(c.u[a*c.D:(a+1)*c.D], c.diff) / c.unit
	}
	c.keepWithin()
	value := c.misfit(x, c.t)
	for range footSteps {
		if !c.newton() || math.Sqrt(dense.Dot(c.step, c.step)) <= footPrecision {
			break
		}
		scale, done := 1.0, true
		for range 12 {
			floats.AddScaledTo(c.trial, c.t, -scale, c.step)
			if next := c.misfit(x, c.trial); next <= value {
				value, done = next, false
				break
			}
			scale /= 2
		}
		if done {
			break
		}
		copy(c.t, c.trial)
	}
	c.keepWithin()
	return !math.IsNaN(value)
}

// keepWithin shortens t to the part of the chart that rows support.
func (c *chart) keepWithin() {
	if norm := math.Sqrt(dense.Dot(c.t, c.t)); norm > footReach {
		dense.Scale(c.t, footReach/norm)
	}
}

// misfit leaves x - f(t) in at and returns its square.
func (c *chart) misfit(x, t []float64) float64 {
	c.point(c.at, t)
	floats.SubTo(c.at, x, c.at)
	return dense.Dot(c.at, c.at)
}

// differentiate leaves the derivatives of f at t in jac.
func (c *chart) differentiate(t []float64) {
	D, d := c.D, c.d
	for a := range d {
		row := c.jac[a*D : (a+1)*D]
		floats.AddScaledTo(row, c.b[(1+a)*D:(2+a)*D], c.unit, c.u[a*D:(a+1)*D])
	}
	at := 1 + d
	for i := range d {
		for j := i; j < d; j++ {
			b := c.b[at*D : (at+1)*D]
			floats.AddScaled(c.jac[i*D:(i+1)*D], t[j], b)
			floats.AddScaled(c.jac[j*D:(j+1)*D], t[i], b)
			at++
		}
	}
}

// newton computes the step from t, with x - f(t) in at: that of Newton where the Hessian
// is positive definite, else that of Gauss and Newton.
func (c *chart) newton() bool {
	D, d := c.D, c.d
	c.differentiate(c.t)
	for full := range 2 {
		at := 1 + d
		for i := range d {
			ji := c.jac[i*D : (i+1)*D]
			c.step[i] = -dense.Dot(ji, c.at)
			for j := range i + 1 {
				c.h[i*d+j] = dense.Dot(ji, c.jac[j*D:(j+1)*D])
			}
		}
		for i := 0; full == 0 && i < d; i++ {
			for j := i; j < d; j++ {
				curvature := dense.Dot(c.b[at*D:(at+1)*D], c.at)
				if i == j {
					curvature *= 2
				}
				c.h[j*d+i] -= curvature
				at++
			}
		}
		if dense.FactorCholesky(c.h, d, 0, singular) {
			dense.SolveCholeskyRows(c.step, c.h, d, 1)
			return true
		}
	}
	return false
}

// moveTo takes the point f(t) for the origin, and the tangent there.
func (c *chart) moveTo(o []float64) bool {
	c.differentiate(c.t)
	copy(c.u, c.jac)
	copy(c.o, o)
	return dense.OrthonormalizeRows(c.u, c.D)
}
