package scqm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/scqm/scqm/internal/dense"
)

const (
	// maxFootSteps bounds the Newton steps from one start.
	maxFootSteps = 60
	// footPrecision is the relative length of a last Newton step.
	footPrecision = 1e-15
	// planePrecision is the same for steps written out for d = 2, which others
	// go on from.
	planePrecision = 1e-4
	// armijo is the decrease asked of a projection step.
	armijo = 1e-4
	// sameFoot is the relative distance below which two ends are one.
	sameFoot = 1e-7
	// lostDigits is the squared residual, relative to the squared distance from
	// c, below which it is computed from the residual itself.
	lostDigits = 1e-3
	// maxSheets is the number of distinct nearest points kept per row.
	maxSheets = 3
)

// foot finds the nearest point of a sheet in the Euclidean norm. By Q'Q = I
// the distance of x from f(tau) is, up to a constant,
//
//	h(tau) = |a - tau|^2 + |b - Theta' phi(tau)|^2,  a = U'(x-c), b = V'(x-c),
//
// a quartic in R^d that no longer involves D. It is the projection for every
// radial loss, and where the projections for other losses start.
type foot struct {
	f        *sheet
	ab       []float64 // m: a above b
	e        []float64 // s: Theta' phi - b
	phi, w   []float64 // q
	jac      []float64 // m x d
	h        []float64 // d x d
	g, step  []float64 // d
	trial    []float64 // d
	start    []float64 // d
	base     []float64 // d: a point of a line
	along    []float64 // d: its direction
	line     []float64 // s: along a line, the part linear in t
	bend     []float64 // s: and the quadratic one
	diff     []float64 // D
	eigen    []float64 // d x d
	values   []float64 // d
	work     []float64
	minima   [][]float64 // maxSheets x d, by ascending distance
	distance []float64
	plane    planeFoot // of the row under way, where d = 2
}

func newFoot(f *sheet) *foot {
	vec := func(n int) []float64 { return make([]float64, n) }
	p := &foot{
		f: f, ab: vec(f.m), e: vec(f.s), phi: vec(f.q), w: vec(f.q), jac: vec(f.m * f.d),
		h: vec(f.d * f.d), g: vec(f.d), step: vec(f.d), trial: vec(f.d), start: vec(f.d), base: vec(f.d), along: vec(f.d),
		line: vec(f.s), bend: vec(f.s), diff: vec(f.D), eigen: vec(f.d * f.d), values: vec(f.d),
	}
	size := []float64{0}
	lapack64.Syev(lapack.EVCompute, p.symmetric(), p.values, size, -1)
	p.work = vec(int(size[0]))
	for range maxSheets {
		p.minima = append(p.minima, vec(f.d))
	}
	return p
}

func (p *foot) symmetric() blas64.Symmetric {
	return blas64.Symmetric{N: p.f.d, Stride: p.f.d, Uplo: blas.Upper, Data: p.eigen}
}

// find looks for the nearest points of the sheet to x, from several starts. It
// returns the number of distinct ones found, at least 1, in minima.
//
// The starts are a itself and the lowest points of h on lines, where it is a
// quartic in one variable: through the origin and a, and through a along each
// eigenvector of sum_k b_k A_k, the directions in which a sheet can bend
// towards x on either side of a saddle.
func (p *foot) find(x []float64) int {
	f := p.f
	floats.SubTo(p.diff, x, f.c)
	f.pull(p.ab, p.diff)
	p.distance = p.distance[:0]
	a := p.ab[:f.d]
	if f.s == 0 {
		copy(p.minima[0], a)
		return 1
	}
	if f.d == 2 {
		p.plane.load(f)
	}
	p.try(a)
	clear(p.base)
	copy(p.along, a)
	p.tryLine()
	p.formEigenvectors()
	copy(p.base, a)
	for j := range f.d {
		for i := range f.d {
			p.along[i] = p.eigen[i*f.d+j]
		}
		p.tryLine()
	}
	return len(p.distance)
}

// formEigenvectors leaves the eigenvectors of sum_k b_k A_k in the columns of
// eigen.
func (p *foot) formEigenvectors() {
	f := p.f
	f.weigh(p.w, p.ab[f.d:])
	clear(p.eigen)
	f.addCurvature(p.eigen, p.w)
	if !lapack64.Syev(lapack.EVCompute, p.symmetric(), p.values, p.work, len(p.work)) {
		clear(p.eigen)
		for i := range f.d {
			p.eigen[i*f.d+i] = 1
		}
	}
}

// tryLine starts from the stationary points of h on the line base + t along.
func (p *foot) tryLine() {
	f, tau0, v := p.f, p.base, p.along
	p.residual(tau0)
	f.jacobian(p.jac, tau0)
	for k := range f.s {
		p.line[k] = floats.Dot(p.jac[(f.d+k)*f.d:(f.d+k+1)*f.d], v)
	}
	vech(p.phi, v)
	f.bend(p.bend, p.phi)
	floats.SubTo(p.g, tau0, p.ab[:f.d])
	var roots [3]float64
	n := dense.CubicRoots(&roots,
		4*floats.Dot(p.bend, p.bend),
		6*floats.Dot(p.line, p.bend),
		2*(floats.Dot(p.line, p.line)+2*floats.Dot(p.e, p.bend)+floats.Dot(v, v)),
		2*(floats.Dot(p.e, p.line)+floats.Dot(v, p.g)))
	for _, t := range roots[:n] {
		floats.AddScaledTo(p.start, tau0, t, v)
		p.try(p.start)
	}
}

// try minimises from tau and enters the end point in the list of minima.
func (p *foot) try(tau []float64) {
	copy(p.start, tau)
	if p.f.d == 2 { // brings most rows close, cheaply
		p.plane.minimise(p.start, p.ab, p.f, maxFootSteps, planePrecision)
	}
	value := p.minimise(p.start, maxFootSteps, footPrecision)
	if math.IsNaN(value) {
		return
	}
	for i := range p.distance {
		if floats.Distance(p.minima[i], p.start, 2) <= sameFoot*floats.Norm(p.start, 2) {
			return
		}
	}
	at := len(p.distance)
	for at > 0 && value < p.distance[at-1] {
		at--
	}
	if at == maxSheets {
		return
	}
	if len(p.distance) == maxSheets {
		p.distance = p.distance[:maxSheets-1]
	}
	p.distance = slices.Insert(p.distance, at, value)
	last := p.minima[len(p.distance)-1]
	copy(p.minima[at+1:len(p.distance)], p.minima[at:])
	p.minima[at] = last
	copy(last, p.start)
}

// residual sets e = Theta' phi(tau) - b and returns h(tau).
func (p *foot) residual(tau []float64) float64 {
	f := p.f
	vech(p.phi, tau)
	f.bend(p.e, p.phi)
	var sum float64
	for i, t := range tau {
		gap := t - p.ab[i]
		sum += gap * gap
	}
	for k, b := range p.ab[f.d:] {
		p.e[k] -= b
		sum += p.e[k] * p.e[k]
	}
	return sum
}

// minimise does damped Newton steps on h from tau, in place, at most so many and
// none after one that is as short as the precision, relative to tau. It returns
// h there and leaves Theta' phi(tau) - b in e and phi(tau) in phi.
func (p *foot) minimise(tau []float64, steps int, precision float64) float64 {
	f := p.f
	value := p.residual(tau)
	for range steps {
		// Half of gradient and Hessian: tau - a + E_V'e and E'E + sum_k e_k 2 A_k.
		f.weigh(p.w, p.e)
		floats.SubTo(p.g, tau, p.ab[:f.d])
		addForm(p.g, p.w, tau)
		f.jacobian(p.jac, tau)
		dense.Gram(p.h, p.jac, f.m, f.d, 1)
		f.addCurvature(p.h, p.w)
		dense.NewtonStep(p.step, p.h, p.g)
		next, ok := p.descend(tau, value)
		if !ok {
			return value
		}
		value = next
		if floats.Norm(p.step, 2) <= precision*floats.Norm(tau, 2) {
			break
		}
	}
	return value
}

// descend moves tau along the step, shortened until h falls enough, and returns
// h at the new point. A full step may leave h as it is to rounding: close to a
// minimum it still improves tau.
func (p *foot) descend(tau []float64, value float64) (float64, bool) {
	slope := 2 * floats.Dot(p.g, p.step)
	t := 1.0
	for try := range 40 {
		floats.AddScaledTo(p.trial, tau, t, p.step)
		next := p.residual(p.trial)
		if next <= value+armijo*t*slope || try == 0 && next <= value*(1+0x1p-50) {
			copy(tau, p.trial)
			return next, true
		}
		t /= 2
	}
	p.residual(tau)
	return value, false
}
