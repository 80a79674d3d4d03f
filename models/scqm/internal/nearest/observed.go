package nearest

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// observedFootpoint finds projections of a row with missing entries. With Q_A the rows of Q for the non-missing
// entries A, the squared distance in these is
//
//	(z - y)'M(z - y),   M = Q_A'Q_A,   M y = Q_A'(x - c)_A,
//
// a problem in R^m that no longer involves D; see [Quadratic]. It omits the prior, whose unit is that of
// another loss. It starts from the origin, from the least squares solution of the flat sheet, and from the
// projections of the row imputed by these.
type observedFootpoint struct {
	f         *sheet.Sheet
	newton    *Quadratic
	whole     *Footpoint
	completed []float64 // D
	minima    [][]float64
	values    []float64
	tau, flat []float64 // d
	factor    []float64 // d x d
	z         []float64 // m
}

func newObservedFootpoint(f *sheet.Sheet) *observedFootpoint {
	vec := func(n int) []float64 { return make([]float64, n) }
	p := &observedFootpoint{
		f: f, newton: NewQuadratic(f), whole: NewFootpoint(f), completed: vec(f.D),
		tau: vec(f.Latent), flat: vec(f.Latent), factor: vec(f.Latent * f.Latent), z: vec(f.M),
	}
	p.newton.Metric, p.newton.Linear = vec(f.M*f.M), vec(f.M)
	return p
}

// minPrior is added to the metric in tau, relative to that of a complete row, so that the projection is unique
// even with too few entries.
const minPrior = 1e-10

// load sets the row.
func (p *observedFootpoint) load(x []float64) {
	f, q := p.f, p.newton
	q.Reload()
	clear(q.Metric)
	clear(q.Linear)
	for j, v := range x {
		if v != v {
			continue
		}
		for a := range f.M {
			u := f.Axis(a)[j]
			q.Linear[a] -= u * (v - f.C[j])
			for b := range f.M {
				q.Metric[a*f.M+b] += u * f.Axis(b)[j]
			}
		}
	}
	for i := range f.Latent {
		q.Metric[i*f.M+i] += minPrior
	}
}

// find returns the minima found, the nearest first.
func (p *observedFootpoint) find(x []float64) [][]float64 {
	p.load(x)
	p.minima, p.values = p.minima[:0], p.values[:0]
	f := p.f
	// The flat sheet: M_UU tau = U_A'(x - c)_A.
	for i := range f.Latent {
		p.flat[i] = -p.newton.Linear[i]
		copy(p.factor[i*f.Latent:(i+1)*f.Latent], p.newton.Metric[i*f.M:])
	}
	if dense.Cholesky(p.factor, f.Latent, 0) {
		dense.SolveCholesky(p.flat, p.factor, f.Latent)
	} else {
		clear(p.flat)
	}
	p.try(p.flat)
	clear(p.tau)
	p.try(p.tau)
	if f.S == 0 {
		return p.minima
	}
	for k := range len(p.minima) {
		p.complete(x, p.minima[k])
		for i := range p.whole.find(p.completed) {
			p.try(p.whole.minima[i])
		}
	}
	p.reflect()
	return p.minima
}

// reflect tries reflections of the nearest point: the missing entries often decide between the two sides of a
// curved sheet.
func (p *observedFootpoint) reflect() {
	d := p.f.Latent
	if len(p.minima) == 0 {
		return
	}
	best := slices.Clone(p.minima[0])
	for signs := 1; signs < 1<<min(d, maxReflected); signs++ {
		for j, v := range best {
			if signs>>(j%maxReflected)&1 == 1 {
				v = -v
			}
			p.tau[j] = v
		}
		p.try(p.tau)
	}
}

// maxReflected bounds the number of independent signs; further coordinates share these.
const maxReflected = 4

// complete imputes the row by f(tau).
func (p *observedFootpoint) complete(x, tau []float64) {
	f := p.f
	f.Coordinates(p.z, p.newton.Phi, tau)
	f.Residual(p.completed, p.z, f.C) // f(tau) - c
	floats.Add(p.completed, f.C)
	for j, v := range x {
		if v == v {
			p.completed[j] = v
		}
	}
}

// try minimises from tau and adds the result to the list.
func (p *observedFootpoint) try(tau []float64) {
	end := slices.Clone(tau)
	value := p.newton.Minimize(end, maxSteps, precision)
	if !dense.Finite(value) || len(p.minima) == maxMinima && value >= p.values[maxMinima-1] {
		return
	}
	at := 0
	for k, other := range p.minima {
		if floats.Distance(other, end, 2) <= sameFootpoint*floats.Norm(end, 2) {
			return
		}
		if p.values[k] <= value {
			at = k + 1
		}
	}
	p.minima, p.values = slices.Insert(p.minima, at, end), slices.Insert(p.values, at, value)
	if len(p.minima) > maxMinima {
		p.minima, p.values = p.minima[:maxMinima], p.values[:maxMinima]
	}
}
