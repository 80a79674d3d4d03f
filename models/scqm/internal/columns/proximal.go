package columns

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// proximal solves the convex model of the fit at a sheet,
//
//	min sum |r + J x| + penalty + x'Px/2   over x with sym(Q'dQ) = 0,
//
// by Mehrotra's predictor and corrector: r + J x = above - below, both positive, and multipliers g between -1 and 1. P is near
// times the diagonal of J'J over the mean residual.
//
// Source: J. Burke, Descent methods for composite nondifferentiable optimization problems, Math. Programming 33 (1985) 260-279;
// S. Mehrotra, On the implementation of a primal-dual interior point method, SIAM J. Optim. 2 (1992) 575-601.
type proximal struct {
	*system
	above, below, g    []float64 // D x n
	primal, w          []float64
	dg, dAbove, dBelow []float64
	jx                 []float64
	x, dx              step
	gu, gv, pu, pv     []float64 // gradients, the diagonal of P
}

func (s *system) newProximal() *proximal {
	vec := func() []float64 { return make([]float64, s.D*s.N) }
	return &proximal{system: s, above: vec(), below: vec(), g: vec(), primal: vec(), w: vec(), dg: vec(), dAbove: vec(), dBelow: vec(), jx: vec(),
		x: s.newStep(), dx: s.newStep(), gu: make([]float64, s.D*s.a), gv: make([]float64, s.nv),
		pu: make([]float64, s.a), pv: make([]float64, s.nv)}
}

const (
	interiorSteps = 80
	// interiorGap is the part of the sum of residuals by which the model's value may be off.
	interiorGap = 1e-10
)

// run minimises the model at residuals r, of the system's sheet, and returns the number of steps. It ends where it is told to stop, too.
func (o *proximal) run(r []float64, near float64, stopped func() bool) int {
	size := floats.Norm(r, 1)
	start := .1 * size / float64(len(r))
	for i, v := range r {
		o.above[i], o.below[i], o.g[i] = max(v, 0)+start, max(-v, 0)+start, 0
	}
	clear(o.x.du)
	clear(o.x.dv)
	o.metric(near * float64(len(r)) / size)
	for it := range interiorSteps {
		o.linear(o.jx, o.x)
		gap, off := 0., 0.
		for i, v := range r {
			o.primal[i] = v + o.jx[i] - (o.above[i] - o.below[i])
			off += math.Abs(o.primal[i])
			gap += float64(o.above[i]*(1-o.g[i])) + float64(o.below[i]*(1+o.g[i]))
			o.w[i] = 1 / (o.above[i]/(1-o.g[i]) + o.below[i]/(1+o.g[i]))
		}
		if gap < interiorGap*size && off < interiorGap*size {
			return it
		}
		if stopped() || !o.prepare() || !o.advance(gap) {
			return it
		}
	}
	return interiorSteps
}

// metric writes the diagonal of P.
func (o *proximal) metric(factor float64) {
	clear(o.pu)
	clear(o.pv)
	for i := range o.N {
		for b, z := range o.at.z[i*o.a : (i+1)*o.a] {
			o.pu[b] += factor * z * z
		}
		for a, y := range o.at.phi[i*o.q : (i+1)*o.q] {
			for b := range o.S {
				o.pv[a*o.S+b] += factor * y * y
			}
		}
		for e := range o.Latent { // Q is orthonormal
			for b := range o.m {
				v := o.slopes[(i*o.m+b)*o.Latent+e]
				o.pv[o.nT+i*o.Latent+e] += factor * v * v
			}
		}
	}
}

// prepare factors the system.
func (o *proximal) prepare() bool {
	o.assemble(o.w, nil)
	for k := range o.D {
		for b, v := range o.pu {
			o.system.g[(k*o.a+b)*o.a+b] += v
		}
	}
	for i, v := range o.pv {
		o.v[i*o.nv+i] += v
	}
	for i, v := range o.ridge {
		o.v[i*o.nv+i] += v
	}
	return o.factor(0)
}

// newton solves for steps towards the products in dAbove and dBelow, which it overwrites with the steps of above and below.
func (o *proximal) newton() {
	for i, v := range o.primal {
		o.dg[i] = v - o.dAbove[i]/(1-o.g[i]) + o.dBelow[i]/(1+o.g[i])
		o.jx[i] = o.g[i] + float64(o.w[i]*o.dg[i])
	}
	o.gradients(o.gu, o.gv, o.jx)
	for i := range o.gu {
		o.gu[i] += o.pu[i%o.a] * o.x.du[i]
	}
	for i, v := range o.x.dv {
		o.gv[i] += o.pv[i] * v
	}
	for i, v := range o.ridge {
		o.gv[i] += v * (o.sheet.Theta[i] + o.x.dv[i])
	}
	o.solve(o.dx.du, o.dx.dv, o.gu, o.gv)
	o.linear(o.jx, o.dx)
	for i, v := range o.jx {
		dg := o.w[i] * (o.dg[i] + v)
		o.dg[i] = dg
		o.dAbove[i] = (o.dAbove[i] + float64(o.above[i]*dg)) / (1 - o.g[i])
		o.dBelow[i] = (o.dBelow[i] - float64(o.below[i]*dg)) / (1 + o.g[i])
	}
}

// reach returns the longest steps of above and below, and of g, that keep them in their bounds.
func (o *proximal) reach() (primal, dual float64) {
	p, d := 1., 1.
	for i, v := range o.dg {
		p = max(p, -o.dAbove[i]/o.above[i], -o.dBelow[i]/o.below[i])
		d = max(d, v/(1-o.g[i]), -v/(1+o.g[i]))
	}
	return 1 / p, 1 / d
}

// advance takes a step with a corrector.
func (o *proximal) advance(gap float64) bool {
	for i, g := range o.g {
		o.dAbove[i], o.dBelow[i] = -o.above[i]*(1-g), -o.below[i]*(1+g)
	}
	o.newton()
	p, d := o.reach()
	after := 0.
	for i, g := range o.g {
		after += float64((o.above[i]+p*o.dAbove[i])*(1-g-d*o.dg[i])) + float64((o.below[i]+p*o.dBelow[i])*(1+g+d*o.dg[i]))
	}
	mu := math.Pow(after/gap, 3) * gap / float64(2*len(o.g))
	for i, g := range o.g {
		o.dAbove[i] = mu - o.above[i]*(1-g) + o.dAbove[i]*o.dg[i]
		o.dBelow[i] = mu - o.below[i]*(1+g) - o.dBelow[i]*o.dg[i]
	}
	o.newton()
	p, d = o.reach()
	t := min(1, .995*min(p, d))
	if !(t > 1e-8) {
		return false
	}
	floats.AddScaled(o.above, t, o.dAbove)
	floats.AddScaled(o.below, t, o.dBelow)
	floats.AddScaled(o.g, t, o.dg)
	floats.AddScaled(o.x.du, t, o.dx.du)
	floats.AddScaled(o.x.dv, t, o.dx.dv)
	return true
}
