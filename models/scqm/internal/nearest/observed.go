package nearest

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// observedProjection finds projections of a row with missing entries. With Q_A the rows of Q for the non-missing
// entries A, the squared distance in these is
//
//	(z - y)'M(z - y),   M = Q_A'Q_A,   M y = Q_A'(x - c)_A,
//
// a problem in R^m that no longer involves D; see [Quadratic]. It omits the prior, whose unit is that of
// another loss. It starts from the origin, from the least squares solution of the flat sheet, and from the
// projections of the row imputed by these.
type observedProjection struct {
	f         *sheet.Sheet
	newton    *Quadratic
	whole     *Projection
	completed []float64 // D
	lowest
	tau, flat []float64 // d
	end       []float64 // d
	factor    []float64 // d x d
	z         []float64 // m
}

func newObservedProjection(f *sheet.Sheet) *observedProjection {
	vec := func(n int) []float64 { return make([]float64, n) }
	p := &observedProjection{
		f: f, newton: NewQuadratic(f), whole: NewProjection(f), completed: vec(f.D),
		lowest: newLowest(f.Latent), end: vec(f.Latent),
		tau: vec(f.Latent), flat: vec(f.Latent), factor: vec(f.Latent * f.Latent), z: vec(f.M),
	}
	p.newton.Metric, p.newton.Linear = vec(f.M*f.M), vec(f.M)
	return p
}

// minPrior is added to the metric in tau, relative to that of a complete row, so that the projection is unique
// even with too few entries.
const minPrior = 1e-10

// load sets the row.
func (p *observedProjection) load(x []float64) {
	f, q := p.f, p.newton
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
func (p *observedProjection) find(x []float64) [][]float64 {
	p.load(x)
	p.distance = p.distance[:0]
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
		return p.minima[:len(p.distance)]
	}
	for k := range len(p.distance) {
		p.complete(x, p.minima[k])
		for i := range p.whole.find(p.completed) {
			p.try(p.whole.minima[i])
		}
	}
	return p.minima[:len(p.distance)]
}

// complete imputes the row by f(tau).
func (p *observedProjection) complete(x, tau []float64) {
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
func (p *observedProjection) try(tau []float64) {
	copy(p.end, tau)
	p.enter(p.end, p.newton.Minimize(p.end, maxSteps, precision))
}
