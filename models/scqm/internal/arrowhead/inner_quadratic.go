package arrowhead

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// quadraticInner takes Newton steps of a row's tau where the loss is a quadratic form
// of the residual, or a growing function of its norm. With y = W'(x - c), split
// into the part y_Q in the span of Q and the rest y_C, and e = z(tau) - y_Q, the
// form is
//
//	e'Me + 2 e'b + rest,
//
// where M = I, b = 0, rest = |y_C|^2 for a norm, and for the form with matrix N
// in the frame M = N_QQ, b = -N_QC y_C, rest = y_C'N_CC y_C. That is a problem
// in R^m: it no longer involves D.
type quadraticInner struct {
	f         *sheet.Sheet
	quadratic bool      // M is not I
	metric    []float64 // m x m: M
	y, b      []float64 // m
	e, me     []float64 // m: e and Me + b
	phi, w    []float64 // q
	jac, mjac []float64 // m x d: E and ME
	h         []float64 // d x d
	g, trial  []float64 // d
	move      []float64 // d
	diff      []float64 // D
}

func newQuadraticInner(f *sheet.Sheet) *quadraticInner {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &quadraticInner{
		f: f, metric: vec(f.M * f.M), y: vec(f.M), b: vec(f.M), e: vec(f.M), me: vec(f.M),
		phi: vec(f.Q), w: vec(f.Q), jac: vec(f.M * f.Latent), mjac: vec(f.M * f.Latent),
		h: vec(f.Latent * f.Latent), g: vec(f.Latent), trial: vec(f.Latent), move: vec(f.Latent), diff: vec(f.D),
	}
}

// loadMetric takes M from the frame.
func (k *quadraticInner) loadMetric(a *Hessian) {
	k.quadratic = a.structure == framework.StructureQuadratic
	if !k.quadratic {
		return
	}
	m, D := k.f.M, k.f.D
	for i := range m {
		for j := range m {
			k.metric[i*m+j] = a.constant[i*D+j] / 2
		}
	}
}

// load sets y and b for row i of the data, x, and returns the rest.
func (k *quadraticInner) load(a *Hessian, x []float64, i int) (rest float64) {
	f := k.f
	if !a.wholeFrame() {
		floats.SubTo(k.diff, x, f.C)
		f.ToFrame(k.y, k.diff)
		for j, v := range k.y {
			floats.AddScaled(k.diff, -v, f.Axis(j))
		}
		return dense.Dot(k.diff, k.diff)
	}
	y := a.coords.y[i*f.D : (i+1)*f.D]
	a.Frame.toFrame(y, x)
	copy(k.y, y)
	if !k.quadratic {
		return 0
	}
	for r := range f.D { // the constant is twice N
		v := -dense.Dot(a.constant[r*f.D+f.M:(r+1)*f.D], y[f.M:]) / 2
		if r < f.M {
			k.b[r] = v
		} else {
			rest -= v * y[r]
		}
	}
	return rest
}

// value returns the form at tau without the rest, and leaves e, Me + b and phi
// behind.
func (k *quadraticInner) value(tau []float64) float64 {
	f := k.f
	f.Coordinates(k.e, k.phi, tau)
	for r, v := range k.y {
		k.e[r] -= v
	}
	if !k.quadratic {
		copy(k.me, k.e)
		return dense.Dot(k.e, k.e)
	}
	var sum float64
	for r := range k.me {
		v := dense.Dot(k.metric[r*f.M:(r+1)*f.M], k.e)
		k.me[r] = v + k.b[r]
		sum += k.e[r] * (v + 2*k.b[r])
	}
	return sum
}

// step takes one damped Newton step from tau, where value was called last, and
// returns the form at the new tau.
func (k *quadraticInner) step(tau []float64, value float64) float64 {
	f := k.f
	d := f.Latent
	f.TauGradient(k.g, k.w, tau, k.me)
	f.Jacobian(k.jac, tau)
	mjac := k.jac
	if k.quadratic {
		mjac = k.mjac
		for r := range f.M {
			row := mjac[r*d : (r+1)*d]
			clear(row)
			for q, v := range k.metric[r*f.M : (r+1)*f.M] {
				for j, u := range k.jac[q*d : (q+1)*d] {
					row[j] += v * u
				}
			}
		}
	}
	clear(k.h)
	for r := range f.M {
		for i, v := range k.jac[r*d : (r+1)*d] {
			for j, u := range mjac[r*d : (r+1)*d] {
				k.h[i*d+j] += v * u
			}
		}
	}
	f.AddCurvature(k.h, k.w)
	dense.NewtonStep(k.move, k.h, k.g)
	for t := 1.0; t > math.Ldexp(1, -maxHalvings); t /= 2 {
		for j, v := range k.move {
			k.trial[j] = tau[j] + t*v
		}
		if next := k.value(k.trial); next <= value {
			copy(tau, k.trial)
			return next
		}
	}
	return value
}
