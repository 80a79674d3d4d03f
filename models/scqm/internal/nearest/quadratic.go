package nearest

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// narrow is the curvature, relative to the largest entry of the Hessian of h, that counts as zero. Along a valley the
// curvature is about 1, and across it up to the square of Theta'tau: with [dense.Flat] steps are too short to arrive.
const narrow = 1e-14

// Quadratic minimises a quadratic form of z(tau) in R^m over tau in R^d,
//
//	h(tau) = e'Me + 2 b'e + sum_j p_j (tau_j - t_j)^2,   e = z(tau) - y,
//
// by damped Newton steps. With y = Q'(x - c) and M = I it is the squared distance of a row x from the sheet, up to a
// constant, without D. A step takes about m d^2 operations, and m^2 d more if M is not I.
type Quadratic struct {
	f *sheet.Sheet
	// Y is the vector y.
	Y []float64
	// Metric is the matrix M, m x m; nil stands for I.
	Metric []float64
	// Linear is the vector b; nil stands for 0.
	Linear []float64
	// Prior holds the p_j, and PriorMean the t_j; nil stands for p = 0.
	Prior, PriorMean []float64

	// E and Phi are results of Value: e and phi(tau).
	E, Phi []float64

	me        []float64 // m: Me + b
	w         []float64 // q
	jac, mjac []float64 // m x d: the Jacobian of z, and M times it
	h         []float64 // d x d: half of the Hessian
	g, step   []float64 // d: half of the gradient, and the step
	trial     []float64 // d
}

// NewQuadratic returns a Quadratic for the sheet f, which may change.
func NewQuadratic(f *sheet.Sheet) *Quadratic {
	vec := func(n int) []float64 { return make([]float64, n) }
	d := f.Latent
	return &Quadratic{
		f: f, Y: vec(f.M), E: vec(f.M), Phi: vec(f.Q), me: vec(f.M), w: vec(f.Q),
		jac: vec(f.M * d), mjac: vec(f.M * d), h: vec(d * d), g: vec(d), step: vec(d), trial: vec(d),
	}
}

// Value returns h(tau), and stores e and phi(tau) in E and Phi.
func (q *Quadratic) Value(tau []float64) float64 {
	f := q.f
	f.Coordinates(q.E, q.Phi, tau)
	for r, y := range q.Y {
		q.E[r] -= y
	}
	var sum float64
	for r, e := range q.E {
		v := e
		if q.Metric != nil {
			v = dense.Dot(q.Metric[r*f.M:(r+1)*f.M], q.E)
		}
		q.me[r] = v
		if q.Linear != nil {
			q.me[r] += q.Linear[r]
			v += 2 * q.Linear[r]
		}
		sum += e * v
	}
	for j, p := range q.Prior {
		gap := tau[j] - q.PriorMean[j]
		sum += p * gap * gap
	}
	return sum
}

// derivatives writes half of the gradient and of the Hessian of h at tau, which must be the last argument of Value.
func (q *Quadratic) derivatives(tau []float64) {
	f := q.f
	f.TauGradient(q.g, q.w, tau, q.me)
	f.Jacobian(q.jac, tau)
	if q.Metric == nil {
		dense.Gram(q.h, q.jac, f.M, f.Latent, 1)
	} else {
		q.metricGram()
	}
	f.AddCurvature(q.h, q.w)
	for j, p := range q.Prior {
		q.g[j] += p * (tau[j] - q.PriorMean[j])
		q.h[j*f.Latent+j] += p
	}
}

// metricGram writes J'MJ for the Jacobian J.
func (q *Quadratic) metricGram() {
	m, d := q.f.M, q.f.Latent
	clear(q.mjac)
	for r := range m {
		row := q.mjac[r*d : (r+1)*d]
		for k, v := range q.Metric[r*m : (r+1)*m] {
			for j, u := range q.jac[k*d : (k+1)*d] {
				row[j] += v * u
			}
		}
	}
	clear(q.h)
	for r := range m {
		for i, v := range q.jac[r*d : (r+1)*d] {
			for j, u := range q.mjac[r*d : (r+1)*d] {
				q.h[i*d+j] += v * u
			}
		}
	}
}

// Step takes a damped Newton step from tau, in place. The last call of Value must have been at tau and returned
// value. It returns h at the new point, and whether tau moved.
func (q *Quadratic) Step(tau []float64, value float64, tries int) (float64, bool) {
	q.derivatives(tau)
	dense.NewtonStep(q.step, q.h, q.g, narrow)
	slope, t := 2*floats.Dot(q.g, q.step), 1.0
	rounding := Rounding * dense.Norm(q.me) * dense.Norm(q.Y) // of h, from that of e
	for try := range tries {
		floats.AddScaledTo(q.trial, tau, t, q.step)
		next := q.Value(q.trial)
		if Accepts(value, next, t, slope, try == 0) || try == 0 && next <= value+rounding {
			copy(tau, q.trial)
			return next, true
		}
		t = Shorten(t, value, next, slope)
	}
	q.Value(tau)
	return value, false
}

// Minimize takes at most the given number of steps from tau, in place. It ends after a step that is shorter than the
// precision, relative to tau, or does not lower h. It returns h at the last point, with the same side effects as
// Value.
func (q *Quadratic) Minimize(tau []float64, steps int, precision float64) float64 {
	value := q.Value(tau)
	for range steps {
		before := value
		value, _ = q.Step(tau, value, Tries)
		if !(value < before) || floats.Norm(q.step, 2) <= precision*floats.Norm(tau, 2) {
			break
		}
	}
	return value
}
