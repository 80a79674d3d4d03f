package nearest

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// maxSteps bounds the Newton steps from one start. Almost no start needs more than 10, but along a narrow valley
	// hundreds are needed.
	maxSteps = 2000
	// precision is the length of a Newton step, relative to tau, at which the iteration ends. It is small because
	// steps along a narrow valley are short, too.
	precision = 1e-15
	// FewDigits is the precision of runs of Newton's method whose results serve as starts.
	FewDigits = 1e-4
	// LostDigits is a bound on the squared residual, relative to the squared distance from c. A smaller squared
	// residual is computed from the residual itself, as the difference of squared distances would lose digits.
	LostDigits = 1e-3
	// maxMinima is the number of distinct nearest points kept per row.
	maxMinima = 3
)

// Projection finds the nearest point of a sheet in the Euclidean norm, or in the norm of a loss r'Mr (see [metric]).
// By Q'Q = I the squared distance of x from f(tau) is, up to a constant,
//
//	h(tau) = |a - tau|^2 + |b - Theta' phi(tau)|^2,  a = U'(x-c), b = V'(x-c),
//
// a quartic in R^d that no longer involves D. It is the projection for every radial loss, and the start of the
// projections for other losses. A row takes 2Dm operations for a and b, and Newton steps of [Quadratic] from at
// most 3d + 4 starts.
type Projection struct {
	*Quadratic           // Y is [a; b]
	metric     *metric   // nil for the Euclidean norm
	start      []float64 // d
	base       []float64 // d: a point of a line
	along      []float64 // d: its direction
	line       []float64 // m: z along a line, the linear part in t
	square     []float64 // m: the quadratic part in t
	diff       []float64 // D
	bent       []float64 // d x d: I + 2B
	eigen      *dense.SymmetricEigen
	first      []float64 // d: buffer of All
	lower, end []float64 // d
	sextic     sextic
	minima     minima
}

func NewProjection(f *sheet.Sheet) *Projection {
	d := f.Latent
	vec := func(n int) []float64 { return make([]float64, n) }
	return &Projection{
		Quadratic: NewQuadratic(f), start: vec(d), base: vec(d), along: vec(d), line: vec(f.M), square: vec(f.M), diff: vec(f.D),
		bent: vec(d * d), eigen: dense.NewSymmetricEigen(d), first: vec(d), lower: vec(d), end: vec(d),
	}
}

// NewLossProjection returns a Projection for the current sheet, in the metric of a loss r'Mr, and in the Euclidean
// norm for other losses. See Reload.
func NewLossProjection(f *sheet.Sheet, loss framework.Loss) *Projection {
	p := NewProjection(f)
	if p.metric = newMetric(f, loss); p.metric != nil {
		p.Metric = p.metric.whole
		p.Reload()
	}
	return p
}

// Reload recomputes what depends on the sheet. Call it after a change of the sheet.
func (p *Projection) Reload() {
	if p.metric != nil {
		p.metric.load(p.f)
	}
}

// Load sets the row x to project.
func (p *Projection) Load(x []float64) {
	floats.SubTo(p.diff, x, p.f.C)
	if p.metric != nil {
		p.metric.toFrame(p.Y, p.diff)
		return
	}
	p.f.ToFrame(p.Y, p.diff)
}

// Find writes the nearest point of the sheet into tau, for [a; b] = Q'(x - c) in Y. The result is a function of Y and
// Theta alone. It is exact for d <= 2 and for s <= 1. Otherwise it is the best of several starts, improved along the
// eigenvectors of I + 2B. Find returns h(tau) and, as [Quadratic.Value] does, stores e and phi at tau.
func (p *Projection) Find(tau []float64) float64 {
	copy(tau, p.Y[:p.f.Latent])
	if p.f.S == 0 {
		return p.Value(tau)
	}
	value := p.Minimize(tau, maxSteps, precision)
	if p.certified() {
		return value
	}
	if p.f.Latent > 2 && p.f.S > 1 {
		value = p.lowest(tau, value)
	}
	p.descend(tau, value)
	return p.Value(tau)
}

// lowest moves tau, where h equals value, to the lowest minimum reached from the starts, and returns h there. Runs
// that are not lower after a few digits are stopped.
func (p *Projection) lowest(tau []float64, value float64) float64 {
	p.eachStart(func(start []float64) {
		copy(p.end, start)
		if p.Minimize(p.end, maxSteps, FewDigits) < value-tie*math.Abs(value) {
			if next := p.Minimize(p.end, maxSteps, precision); next < value {
				value = next
				copy(tau, p.end)
			}
		}
	})
	return value
}

// All returns the nearest point of the sheet and up to two local minima from several starts, by ascending distance.
// They are valid until the next row.
func (p *Projection) All() []minimum {
	p.minima.reset()
	p.minima.add(p.first, p.Find(p.first))
	if p.f.S == 0 {
		return p.minima.list
	}
	enter := func(tau []float64) {
		copy(p.start, tau)
		value := p.Minimize(p.start, maxSteps, precision)
		p.derivatives(p.start)
		if dense.FactorCholesky(p.h, p.f.Latent, 0, 0) { // no saddle, to which a start can lead by symmetry
			p.minima.enter(p.start, value)
		}
	}
	enter(p.Y[:p.f.Latent])
	p.eachStart(enter)
	return p.minima.best(maxMinima)
}

// eachStart calls do for every start other than a. The starts are the stationary points of h on lines, where h is a
// quartic in one variable. One line goes through the origin and a. The others go through a along the eigenvectors of
// sum_k b_k A_k: in these directions a sheet can curve towards x on either side of a saddle.
func (p *Projection) eachStart(do func(tau []float64)) {
	f, a := p.f, p.Y[:p.f.Latent]
	clear(p.base)
	copy(p.along, a)
	p.onLine(do)
	f.WeighForms(p.w, p.Y[f.Latent:])
	clear(p.eigen.A)
	f.AddCurvature(p.eigen.A, p.w)
	p.eigen.FactorizeOrIdentity()
	copy(p.base, a)
	for j := range f.Latent {
		for i := range f.Latent {
			p.along[i] = p.eigen.A[i*f.Latent+j]
		}
		p.onLine(do)
	}
}

// onLine calls do for the stationary points of h on the line base + t along.
func (p *Projection) onLine(do func(tau []float64)) {
	var roots [3]float64
	for _, t := range roots[:p.lineRoots(&roots, p.base)] {
		floats.AddScaledTo(p.start, p.base, t, p.along)
		do(p.start)
	}
}

// lineRoots finds the stationary points of h on the line tau0 + t along. It works in units of the distance of x from
// c, so that the test for a cubic does not depend on the unit of the data.
func (p *Projection) lineRoots(roots *[3]float64, tau0 []float64) int {
	f, v := p.f, p.along
	p.Value(tau0)
	f.Jacobian(p.jac, tau0)
	for k := range f.M {
		p.line[k] = floats.Dot(p.jac[k*f.Latent:(k+1)*f.Latent], v)
	}
	sheet.Vech(p.Phi, v)
	f.Quadratic(p.square[f.Latent:], p.Phi)
	g := p.me
	unit := floats.Norm(p.Y, 2) / floats.Norm(v, 2)
	if unit == 0 || math.IsInf(unit, 0) || math.IsNaN(unit) {
		unit = 1
	}
	n := dense.CubicRoots(roots,
		4*unit*unit*p.inner(p.square, p.square),
		6*unit*p.inner(p.line, p.square),
		2*(p.inner(p.line, p.line)+2*floats.Dot(g, p.square)),
		2/unit*floats.Dot(g, p.line))
	for k := range n {
		roots[k] *= unit
	}
	return n
}

// inner returns the inner product in which h measures distances.
func (p *Projection) inner(a, b []float64) float64 {
	if p.metric == nil {
		return floats.Dot(a, b)
	}
	var sum float64
	for i, v := range a {
		sum += v * dense.Dot(p.Metric[i*len(b):(i+1)*len(b)], b)
	}
	return sum
}
