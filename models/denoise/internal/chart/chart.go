package chart

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// Setting defines how charts are made.
type Setting struct {
	Ridge float64
	Scale float64 // standard deviation of the noise
	Cut   float64 // norm from which on a residual has no weight; Inf for least squares
	// Rounds is the number of times that a chart is placed: first at the given point, then at the projection of its
	// row.
	Rounds int
	// Sides is the distance of each of two parallel sheets from the surface midway between them; 0 for one sheet.
	Sides float64
}

// Chart fits one chart after another in the same memory. Use it from one goroutine.
type Chart interface {
	// Prepare computes the sums of the chart at the point o for the row pivot, from gathered rows. It returns false
	// if they determine no surface.
	Prepare(o, pivot []float64, r *Rows, s *Setting) bool
	// Solve computes the chart from the sums of Prepare with a ridge. It returns false if the system is singular.
	Solve(ridge float64) bool
	// Foot writes the point of the chart nearest to x into dst.
	Foot(dst, x []float64) bool
	// Influence returns the influence of row k: to first order, the last projection moves normal to the chart by the
	// sum over rows of their influence times their move. Call Solve first.
	Influence(k int) float64
	// Leverage is the sum of the squared influences. It is the variance of the projection in units of that of the
	// rows.
	Leverage() float64
	// Residuals writes the distances of the rows from the chart into dst.
	Residuals(dst []float64)
	// Noise estimates the standard deviation of the noise, in each direction, from the residuals.
	Noise() float64
	// Beside returns the distance of x from the point of the chart that has the same tangential coordinates.
	Beside(x []float64) float64
	// Width is the number of numbers that Store writes. Load restores the chart from them without its sums. Load
	// returns false if there is none.
	Width() int
	Store(to []float64)
	Load(from []float64) bool
}

// New makes charts of dimension d of rows of length D.
func New(D, d int) Chart {
	if D == 3 && d == 2 {
		return &Space{}
	}
	return NewSurface(D, d)
}

const (
	// RobustSteps is the number of reweightings for Tukey's loss in the first round.
	RobustSteps = 2
	// footSteps bounds Newton's method for a projection. footPrecision is the step length at which it ends, in units
	// of the chart.
	footSteps     = 12
	footPrecision = 1e-9
	// footReach bounds the distance of projections from the origin, in units of the distance of the first row left
	// out.
	footReach = 1.5
)

// Surface is a quadratic surface over a tangent plane,
//
//	f(t) = o + h U't + B'psi(t),   psi = (1, t_i, t_i t_j),
//
// found by weighted regression of the nearby rows on their coordinates in the plane. The coordinates are not fitted,
// so they cannot fit the noise.
type Surface struct {
	d, D, p int
	frame   *Frame
	sums    *Regression
	o       []float64 // D
	u       []float64 // d x D: axes of the plane
	b       []float64 // p x D: coefficients, at right angles to the plane
	unit    float64   // h

	psi     []float64 // K x p
	terms   []float64 // K x len(sum): terms of a row in the sums of the regression
	sum     []float64 // packed psi psi' and psi v'
	v       []float64 // K x D: normal deviations of rows from the plane
	weights []float64 // K: before reweighting
	used    []float64 // K
	k       int
	cut     float64

	t, trial, g, step []float64 // d
	h                 []float64 // d x d
	jac               []float64 // d x D
	at, diff, middle  []float64 // D
	values            []float64 // p
}

func NewSurface(D, d int) *Surface {
	p := Quadratics(d)
	vec := func(n int) []float64 { return make([]float64, n) }
	return &Surface{
		d: d, D: D, p: p, frame: NewFrame(D, d), sums: NewRegression(p, D),
		o: vec(D), u: vec(d * D), b: vec(p * D), sum: vec(p*(p+1)/2 + p*D),
		t: vec(d), trial: vec(d), g: vec(d), step: vec(d), h: vec(d * d), jac: vec(d * D), at: vec(D), diff: vec(D), middle: vec(D), values: vec(p),
	}
}

func (c *Surface) room(k int) {
	if len(c.used) >= k {
		return
	}
	c.psi, c.v = make([]float64, k*c.p), make([]float64, k*c.D)
	c.terms = make([]float64, k*len(c.sum))
	c.weights, c.used = make([]float64, k), make([]float64, k)
}

// Prepare implements Chart.
func (c *Surface) Prepare(o, pivot []float64, r *Rows, s *Setting) bool {
	k := len(r.Prior)
	if !(r.Next > 0) {
		return false
	}
	c.room(k)
	c.k, c.unit, c.cut = k, r.Next, s.Cut
	r.weigh(c.weights[:k], c.used[:k])
	if !c.frame.Find(r.near, c.weights[:k]) {
		return false
	}
	copy(c.o, o)
	copy(c.u, c.frame.Axes)
	for round := range s.Rounds {
		c.coordinates(r.x, k)
		c.addUp()
		for step := 0; round == 0 && step < RobustSteps && !math.IsInf(s.Cut, 1); step++ {
			if !c.Solve(s.Ridge) {
				return false
			}
			c.reweigh(s.Cut)
			c.addUp()
		}
		if round == s.Rounds-1 {
			break
		}
		if !c.Solve(s.Ridge) {
			return false
		}
		c.reweigh(s.Cut)
		if !c.Foot(c.middle, pivot) || !c.moveTo(c.middle) {
			return false
		}
	}
	return c.sum[0] > 0
}

// coordinates computes from the first k rows of x the regressors psi of their tangential coordinates, and their
// normal parts.
func (c *Surface) coordinates(x []float64, k int) {
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
		Quadratic(psi, c.t)
		multiply(c.terms[i*len(c.sum):(i+1)*len(c.sum)], psi, v)
	}
}

// multiply writes the lower triangle of psi psi' and then psi v' into dst. Three regressions use these products.
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

// unpack copies the accumulated sums into the matrices of the regression.
func (c *Surface) unpack() {
	at := 0
	for i := range c.p {
		at += copy(c.sums.g[i*c.p:i*c.p+i+1], c.sum[at:])
	}
	copy(c.sums.r, c.sum[at:])
}

// addUp adds up the weighted products of all rows for the regression.
func (c *Surface) addUp() {
	clear(c.sum)
	for i, w := range c.used[:c.k] {
		if w > 0 {
			floats.AddScaled(c.sum, w, c.terms[i*len(c.sum):(i+1)*len(c.sum)])
		}
	}
}

// Solve implements Chart.
func (c *Surface) Solve(ridge float64) bool {
	c.unpack()
	total, size := c.sum[0], 0.0
	for a := 1; a <= c.d; a++ {
		size += c.sums.g[a*c.p+a]
	}
	if !(total > 0) {
		return false
	}
	m := size / total / float64(c.d)
	c.sums.Penalise(1+c.d, ridge*total*m*m)
	return c.sums.Solve(c.b)
}

// reweigh multiplies the weights by Tukey's (1-(r/cut)^2)^2 for residuals of norm r, unless little weight is left.
func (c *Surface) reweigh(cut float64) {
	if math.IsInf(cut, 1) {
		return
	}
	var all, left float64
	for i := range c.k {
		if c.weights[i] > 0 {
			c.used[i] = c.weights[i] * Tukey(c.Residual(i)/(cut*cut))
			all += c.weights[i]
			left += c.used[i]
		}
	}
	if !(left > leastTrusted*all) {
		copy(c.used[:c.k], c.weights[:c.k])
	}
}

// Tukey is Tukey's weight for a squared residual in units of the squared cut.
func Tukey(u float64) float64 {
	if !(u < 1) {
		return 0
	}
	return (1 - u) * (1 - u)
}

// Residual is the squared distance of row i from the surface above its tangential coordinates.
func (c *Surface) Residual(i int) float64 {
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

// Residuals implements Chart.
func (c *Surface) Residuals(dst []float64) {
	for i := range dst {
		dst[i] = math.Sqrt(c.Residual(i))
	}
}

// Noise implements Chart.
func (c *Surface) Noise() float64 { return c.spread() }

// Influence implements Chart. The influence of row k is w_k psi_k'G^-1 psi.
func (c *Surface) Influence(k int) float64 {
	c.solveAtFoot()
	return c.used[k] * dense.Dot(c.psi[k*c.p:(k+1)*c.p], c.values)
}

// Leverage implements Chart. It returns 0 if the rows do not determine the chart.
func (c *Surface) Leverage() (square float64) {
	c.solveAtFoot()
	for i, w := range c.used[:c.k] {
		if w > 0 {
			l := w * dense.Dot(c.psi[i*c.p:(i+1)*c.p], c.values)
			square += l * l
		}
	}
	if math.IsNaN(square) || math.IsInf(square, 0) {
		return 0
	}
	return square
}

// solveAtFoot stores G^-1 psi of the last projection in values.
func (c *Surface) solveAtFoot() {
	Quadratic(c.values, c.t)
	dense.SolveCholeskyRows(c.values, c.sums.g, c.p, 1) // the factor of G that solve has left
}

// Width implements Chart.
func (c *Surface) Width() int { return c.D*(1+c.d+c.p) + 1 }

// Store implements Chart.
func (c *Surface) Store(to []float64) {
	n := copy(to, c.o)
	n += copy(to[n:], c.u)
	n += copy(to[n:], c.b)
	to[n] = c.unit
}

// Load implements Chart.
func (c *Surface) Load(from []float64) bool {
	n := copy(c.o, from)
	n += copy(c.u, from[n:])
	n += copy(c.b, from[n:])
	c.unit = from[n]
	return c.unit > 0
}

// Beside implements Chart.
func (c *Surface) Beside(x []float64) float64 {
	floats.SubTo(c.diff, x, c.o)
	for a := range c.d {
		c.trial[a] = dense.Dot(c.u[a*c.D:(a+1)*c.D], c.diff) / c.unit
	}
	return math.Sqrt(c.misfit(x, c.trial))
}

// point writes f(t) into dst.
func (c *Surface) point(dst, t []float64) {
	Quadratic(c.values, t)
	copy(dst, c.o)
	for a, v := range t {
		floats.AddScaled(dst, v*c.unit, c.u[a*c.D:(a+1)*c.D])
	}
	for i, v := range c.values {
		floats.AddScaled(dst, v, c.b[i*c.D:(i+1)*c.D])
	}
}

// Foot implements Chart.
func (c *Surface) Foot(dst, x []float64) bool {
	ok := c.findFoot(x)
	c.point(dst, c.t)
	return ok
}

// findFoot stores in t the coordinates of the point of the chart nearest to x. It uses Newton's method with halved
// steps, from the tangential coordinates of x. The solver of nearest points on models needs sheets with orthonormal
// axes and curvature at right angles to them; converting a chart would cost more than its two or three steps.
func (c *Surface) findFoot(x []float64) bool {
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
func (c *Surface) keepWithin() {
	if norm := math.Sqrt(dense.Dot(c.t, c.t)); norm > footReach {
		dense.Scale(c.t, footReach/norm)
	}
}

// misfit stores x - f(t) in at and returns its square.
func (c *Surface) misfit(x, t []float64) float64 {
	c.point(c.at, t)
	floats.SubTo(c.at, x, c.at)
	return dense.Dot(c.at, c.at)
}

// differentiate stores the derivatives of f at t in jac.
func (c *Surface) differentiate(t []float64) {
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

// newton computes the step from t, with x - f(t) in at. It is a Newton step if the Hessian is positive definite,
// otherwise a Gauss-Newton step.
func (c *Surface) newton() bool {
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
		if dense.FactorCholesky(c.h, d, 0, Singular) {
			dense.SolveCholeskyRows(c.step, c.h, d, 1)
			return true
		}
	}
	return false
}

// moveTo moves the origin to the point f(t), with the tangent plane there.
func (c *Surface) moveTo(o []float64) bool {
	c.differentiate(c.t)
	copy(c.u, c.jac)
	copy(c.o, o)
	return dense.OrthonormalizeRows(c.u, c.D)
}
