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
}

const (
	// chartRounds is the number of times that a chart is placed anew at the
	// foot of its row, robustSteps that of reweightings in each round.
	chartRounds = 3
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

	t, trial, g, step []float64 // d
	h                 []float64 // d x d
	jac               []float64 // d x D
	at, diff          []float64 // D
	values            []float64 // p
}

func newChart(D, d int) *chart {
	p := quadratics(d)
	vec := func(n int) []float64 { return make([]float64, n) }
	return &chart{
		d: d, D: D, p: p, frame: newFrame(D, d), sums: newRegression(p, D),
		o: vec(D), u: vec(d * D), b: vec(p * D), sum: vec(p*(p+1)/2 + p*D),
		t: vec(d), trial: vec(d), g: vec(d), step: vec(d), h: vec(d * d), jac: vec(d * D), at: vec(D), diff: vec(D), values: vec(p),
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

// fit makes the chart at the point o of the rows of x, K x D, for the row pivot,
// and writes the foot of it into dst. near are the places of the same rows, by
// which they were found, with the distance next of the first row left out;
// prior are the weights of the rows. It is false where the rows determine no
// surface; then dst is o.
func (c *chart) fit(dst, o, pivot, x, near, prior []float64, next float64, s *setting) bool {
	k := len(prior)
	copy(dst, o)
	if !(next > 0) {
		return false
	}
	c.room(k)
	c.unit = next
	for i := range k {
		c.weights[i] = prior[i] * tricube(distance(near[i*c.D:(i+1)*c.D], o)/next)
	}
	if !c.frame.find(near, c.weights[:k]) {
		return false
	}
	copy(c.o, o)
	copy(c.u, c.frame.axes)
	for round := range chartRounds {
		c.coordinates(x, k)
		if !c.regress(k, s) || !c.findFoot(pivot) {
			return false
		}
		c.point(dst, c.t)
		if round < chartRounds-1 && !c.moveTo(dst) {
			return false
		}
	}
	return true
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

// regress fits b, once and then with weights w (1-(r/cut)^2)^2 of Tukey for
// residuals of norm r.
func (c *chart) regress(k int, s *setting) bool {
	copy(c.used[:k], c.weights[:k])
	steps := robustSteps
	if math.IsInf(s.cut, 1) {
		steps = 0
	}
	for step := 0; ; step++ {
		clear(c.sum)
		for i, w := range c.used[:k] {
			if w > 0 {
				floats.AddScaled(c.sum, w, c.terms[i*len(c.sum):(i+1)*len(c.sum)])
			}
		}
		c.unpack()
		total, size := c.sum[0], 0.0
		for a := 1; a <= c.d; a++ {
			size += c.sums.g[a*c.p+a]
		}
		if !(total > 0) {
			return false
		}
		m := size / total / float64(c.d)
		c.sums.penalise(1+c.d, s.ridge*total*m*m)
		if !c.sums.solve(c.b) {
			return false
		}
		if step == steps {
			return true
		}
		for i := range c.used[:k] {
			if c.weights[i] > 0 {
				c.used[i] = c.weights[i] * tukey(c.residual(i)/(s.cut*s.cut))
			}
		}
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

// shrinkage is the factor by which the chart, being pulled towards its own row,
// shortens the distance of that row from it: the root of 1 - 2 l_own + sum l_k^2,
// where the chart at its foot is the sum of the rows with the weights l_k =
// w_k psi_k'G^-1 psi. own is the place of the row among the k of the chart.
func (c *chart) shrinkage(k, own int) float64 {
	quadratic(c.values, c.t)
	dense.SolveCholeskyRows(c.values, c.sums.g, c.p, 1) // the factor of G that solve has left
	square := 1.0
	for i, w := range c.used[:k] {
		if w > 0 {
			l := w * dense.Dot(c.psi[i*c.p:(i+1)*c.p], c.values)
			square += l * l
			if i == own {
				square -= 2 * l
			}
		}
	}
	return math.Sqrt(max(square, minShrinkage*minShrinkage))
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
