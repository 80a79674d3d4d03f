package nearest

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// maxSteps bounds the Newton steps from one start.
	maxSteps = 60
	// precision is the relative length of a last Newton step.
	precision = 1e-15
	// fewDigits is the same where a start is tried.
	fewDigits = 1e-4
	// sameProjection is the relative distance below which two minima are the same.
	sameProjection = 1e-7
	// LostDigits is the squared residual, relative to the squared distance from
	// c, below which it is computed from the residual itself.
	LostDigits = 1e-3
	// maxMinima is the number of distinct nearest points kept per row.
	maxMinima = 3
)

// Projection finds the nearest point of a sheet in the Euclidean norm, or in that of a loss r'Mr (see [metric]).
// By Q'Q = I the distance of x from f(tau) is, up to a constant,
//
//	h(tau) = |a - tau|^2 + |b - Theta' phi(tau)|^2,  a = U'(x-c), b = V'(x-c),
//
// a quartic in R^d that no longer involves D. It is the projection for every radial loss, and the start of the
// projections for other losses. A row takes 2Dm operations for a and b, and Newton steps of [Quadratic] from at
// most 3d + 4 starts.
type Projection struct {
	*Quadratic           // with a above b as Y
	metric     *metric   // nil for the Euclidean norm
	start      []float64 // d
	base       []float64 // d: a point of a line
	along      []float64 // d: its direction
	line       []float64 // m: z along a line, the part linear in t
	square     []float64 // m: and the quadratic one
	diff       []float64 // D
	eigen      *dense.SymmetricEigen
	lower      []float64 // d
	sextic     sextic
	lowest
}

func NewProjection(f *sheet.Sheet) *Projection {
	vec := func(n int) []float64 { return make([]float64, n) }
	p := &Projection{
		lowest:    newLowest(f.Latent),
		Quadratic: NewQuadratic(f), start: vec(f.Latent), base: vec(f.Latent), along: vec(f.Latent),
		line: vec(f.M), square: vec(f.M), diff: vec(f.D), lower: vec(f.Latent), eigen: dense.NewSymmetricEigen(f.Latent),
	}
	return p
}

// NewLossProjection returns a Projection in the metric of a loss r'Mr, and in the Euclidean norm for other
// losses, for the current sheet: see Reload.
func NewLossProjection(f *sheet.Sheet, loss framework.Loss) *Projection {
	p := NewProjection(f)
	if p.metric = newMetric(f, loss); p.metric != nil {
		p.Metric = p.metric.whole
		p.Reload()
	}
	return p
}

// Reload must be called after a change of the sheet.
func (p *Projection) Reload() {
	if p.metric != nil {
		p.metric.load(p.f)
	}
}

// load sets the row.
func (p *Projection) load(x []float64) {
	floats.SubTo(p.diff, x, p.f.C)
	p.Load(p.diff)
	p.distance = p.distance[:0]
}

// Load sets x - c.
func (p *Projection) Load(diff []float64) {
	if p.metric != nil {
		p.metric.toFrame(p.Y, diff)
		return
	}
	p.f.ToFrame(p.Y, diff)
}

// inner is the inner product of h.
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

// find searches the global and local nearest points to x from several starts. It writes them into minima and
// returns their number, at least 1; the first is that of [Projection.nearest].
func (p *Projection) find(x []float64) int {
	p.load(x)
	return p.searchAll()
}

// searchAll is find for the row loaded last.
func (p *Projection) searchAll() int {
	p.search()
	if p.f.S == 0 {
		return 1
	}
	copy(p.lower, p.minima[0])
	p.distance = append(p.distance[:0], p.Value(p.lower))
	enter := func(tau []float64) {
		copy(p.start, tau)
		p.enter(p.start, p.Minimize(p.start, maxSteps, precision))
	}
	enter(p.Y[:p.f.Latent])
	p.eachStart(enter)
	return len(p.distance)
}

// eachStart calls do for every start other than a: the stationary points of h on lines, where it is a quartic in one
// variable: through the origin and a, and through a along each eigenvector of sum_k b_k A_k, the directions in which
// a sheet can curve towards x on either side of a saddle.
func (p *Projection) eachStart(do func(tau []float64)) {
	f, a := p.f, p.Y[:p.f.Latent]
	clear(p.base)
	copy(p.along, a)
	p.onLine(do)
	p.formEigenvectors()
	copy(p.base, a)
	for j := range f.Latent {
		for i := range f.Latent {
			p.along[i] = p.eigen.A[i*f.Latent+j]
		}
		p.onLine(do)
	}
}

// formEigenvectors leaves the eigenvectors of sum_k b_k A_k in the columns of
// eigen.
func (p *Projection) formEigenvectors() {
	f := p.f
	f.WeighForms(p.w, p.Y[f.Latent:])
	clear(p.eigen.A)
	f.AddCurvature(p.eigen.A, p.w)
	p.eigen.FactorizeOrIdentity()
}

// onLine calls do for the stationary points of h on the line base + t along.
func (p *Projection) onLine(do func(tau []float64)) {
	var roots [3]float64
	for _, t := range roots[:p.lineRoots(&roots, p.base)] {
		floats.AddScaledTo(p.start, p.base, t, p.along)
		do(p.start)
	}
}

// lineRoots finds the stationary points of h on the line tau0 + t along. They are
// found in units of the distance of x from c, so that what counts as a cubic does
// not depend on the unit of the data.
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

// lowest are the lowest of the points entered.
type lowest struct {
	minima   [][]float64 // maxMinima x d, by ascending distance
	distance []float64   // of those found
}

func newLowest(d int) (p lowest) {
	for range maxMinima {
		p.minima = append(p.minima, make([]float64, d))
	}
	return p
}

// enter adds tau, where h is value, to minima if it is among the lowest.
func (p *lowest) enter(tau []float64, value float64) {
	if !dense.Finite(value) {
		return
	}
	for i := range p.distance {
		if floats.Distance(p.minima[i], tau, 2) <= sameProjection*floats.Norm(tau, 2) {
			return
		}
	}
	at := len(p.distance)
	for at > 0 && value < p.distance[at-1] {
		at--
	}
	if at == maxMinima {
		return
	}
	if len(p.distance) == maxMinima {
		p.distance = p.distance[:maxMinima-1]
	}
	p.distance = slices.Insert(p.distance, at, value)
	last := p.minima[len(p.distance)-1]
	copy(p.minima[at+1:len(p.distance)], p.minima[at:])
	p.minima[at] = last
	copy(last, tau)
}

const (
	// statelessSteps bounds the Newton steps of a row that starts at tau = a,
	// statelessStep is the relative length of a last step: the next would be about its
	// square, and change the distance by the square of that.
	statelessSteps = 12
	statelessStep  = 1e-4
	// statelessGradient is half of the gradient of h, relative to [a; b], above which a row has not converged.
	statelessGradient = 1e-7
)

// Find writes the nearest point of the sheet into tau, for [a; b] = Q'(x - c) in Y. It is a function of Y and
// Theta alone: up to 12 Newton steps from a, and a global search where they fail: exact for d <= 2 and for s <=
// 1 as [Projector.Project] is, to about 8 digits of tau. It returns h there and leaves the values of
// [Quadratic.Value]. Theta is set by [Quadratic.Reload].
func (p *Projection) Find(tau []float64) float64 {
	copy(tau, p.Y[:p.f.Latent])
	if p.f.S == 0 {
		return p.Value(tau)
	}
	value := p.Minimize(tau, statelessSteps, statelessStep)
	if p.certified(tau) && p.stationary(tau) {
		return value
	}
	p.distance = p.distance[:0]
	copy(p.minima[0], tau)
	p.searchGlobal()
	copy(tau, p.minima[0])
	return p.Value(tau)
}

// stationary reports whether the gradient of h vanishes at tau, where certified was
// called last.
func (p *Projection) stationary(tau []float64) bool {
	g := p.lower
	copy(g, p.me[:len(tau)])
	sheet.AddForm(g, p.w, tau)
	size := p.flatForm(0, 0)
	for j := range tau {
		size = max(size, p.flatForm(j, j))
	}
	return floats.Norm(g, 2) <= statelessGradient*size*floats.Norm(p.Y, 2)
}
