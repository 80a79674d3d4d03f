package alternating

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// sweepSteps bounds the Newton steps of a row in one sweep. More do not pay, as the outer blocks move next.
	sweepSteps = 2
	// sweepPrecision is the relative length of a Newton step below which the next would gain less than the
	// outer blocks will.
	sweepPrecision = 1e-3
	// SweepRows bounds the rows handled at a time.
	SweepRows = 192
	// shortestResidual is the least residual, relative to the length scale of the data, in the weights of
	// losses with a kink: it bounds the weights of rows on the sheet.
	shortestResidual = 1e-8
)

// Sweeper lowers an objective over Tau and then over c, Q and Theta: see [Sweeper.Sweep].
type Sweeper struct {
	o *objective.Objective
	f *sheet.Sheet // made by the first Sweep

	mm     *mm          // made by the first Sweep
	metric *metricSweep // likewise, under a loss r'Mr
}

func New(o *objective.Objective) *Sweeper { return &Sweeper{o: o} }

// load loads the sheet of a point.
func (p *Sweeper) load(x framework.Point) *sheet.Sheet {
	if p.f == nil {
		p.f = p.o.NewSheet()
	}
	p.f.Load(x[objective.BlockC], x[objective.BlockQ], x[objective.BlockTheta])
	return p.f
}

// mm holds the buffers of Sweep, a majorise-minimise step.
type mm struct {
	o       *objective.Objective
	f       *sheet.Sheet
	version uint64          // of the data that unit belongs to
	x, next framework.Point // of the sweep under way
	work    func(id, shard int)
	errs    []error
	shards  []*Moments
	total   *Moments
	outer   *Outer
	rows    []*rowSweep // per worker
	unit    float64     // h: root mean squared distance from the mean
}

// OuterBlocks returns c, Q and Theta where the loss is a function of |r|^2 with
// known quadratic majorizers, or r'Mr, and nothing for other losses.
func (p *Sweeper) OuterBlocks() []int {
	if _, quadratic := p.o.Loss().(framework.Quadratic); !quadratic && !CanSweep(p.o.Loss()) {
		return nil
	}
	return []int{objective.BlockC, objective.BlockQ, objective.BlockTheta}
}

// CanSweep reports whether a loss is rho(|r|^2) with concave rho: a radial loss
// with majorizers has weights 2 rho', one for each row.
func CanSweep(l framework.Loss) bool {
	if _, ok := l.(framework.Radial); !ok {
		return false
	}
	_, ok := l.(framework.Majorizer)
	return ok
}

// Sweep improves Tau and finds the next c, Q and Theta in one pass over the rows, for losses rho(|r|^2) with
// concave rho.
//
// By Q'Q = I every tau_i minimises |a - tau|^2 + |b - Theta' phi(tau)|^2 with [a; b] = Q'(x_i - c), a problem
// without D. The tangent of rho at the new residuals bounds the cost by a weighted sum of squares with w_i =
// v_i rho'(|r_i|^2), v_i the weight of the row, which the next c, Q and Theta lower; see [Outer]. Its weights
// are those of residuals no shorter than 1e-8 times the length scale of the data: where rows are interpolated
// under a loss with a kink, the cost can rise by as much. A sweep takes 2nDm operations for the projections and
// those of [Moments].
//
// A loss r'Mr is the square of the whitened residual, and the sum is the cost itself: there rows go towards
// their nearest points in this metric, and [metricOuter] lowers the sum.
func (p *Sweeper) Sweep(next, x framework.Point) (float64, error) {
	f, o := p.load(x), p.o
	if l, ok := o.Loss().(framework.Quadratic); ok {
		return p.sweepMetric(next, x, l)
	}
	if p.mm == nil || p.mm.version != o.Version() {
		p.mm = newMM(o, f)
	}
	a := p.mm
	a.x, a.next = x, next
	par.Do(o.Threads(), len(a.shards), a.work)
	a.total.reset()
	for i, s := range a.shards {
		if a.errs[i] != nil {
			return 0, a.errs[i]
		}
		a.total.add(s)
	}
	cost := a.total.cost + o.Penalty(nil, x[objective.BlockTheta])
	return cost, a.outer.Solve(next, a.total, o.Regularizer)
}

func newMM(o *objective.Objective, f *sheet.Sheet) *mm {
	shards := par.Shards(o.Data().N)
	a := &mm{
		o: o, f: f, version: o.Version(), shards: make([]*Moments, shards), errs: make([]error, shards),
		total: NewMoments(f), rows: make([]*rowSweep, o.Threads()), unit: rows.LengthScale(*o.Data()),
	}
	for i := range a.shards {
		a.shards[i] = NewMoments(f)
	}
	a.outer = NewOuter(f, a.unit)
	a.work = a.shard
	return a
}

// shard sweeps over the rows of one shard.
func (a *mm) shard(id, shard int) {
	p := a.o
	if a.rows[id] == nil {
		a.rows[id] = newRowSweep(p.Data(), a.f, min(nearest.BatchRows(a.f, p.Data().N), SweepRows), a.unit).goOn()
	}
	rows := a.rows[id]
	rows.loss = p.Loss().(framework.Radial) // see Smooth
	rows.reload()
	m := a.shards[shard]
	m.reset()
	lo, hi := par.Bounds(p.Data().N, shard)
	for from := lo; from < hi; from += rows.rows {
		if a.errs[shard] = p.Context().Err(); a.errs[shard] != nil {
			return
		}
		rows.batch(m, a.next[objective.BlockTau], a.x[objective.BlockTau], from, min(from+rows.rows, hi))
	}
}

// rowSweep holds the buffers of one goroutine.
type rowSweep struct {
	data       *rows.Data
	f          *sheet.Sheet
	loss       framework.Radial
	alone      *nearest.Quadratic
	projection *nearest.Batch
	rows       int       // at a time
	pulled     []float64 // m x rows: Q'(x - c), one axis after the other
	whole      []float64 // rows: |x - c|^2
	rho, slope []float64 // rows
	u          []float64 // rows: squared residuals
	y, wy      []float64 // rows x (1+d+q): [1; y], and that times the weight
	direct     []float64 // D
	unit       float64
	stateless  *nearest.Projection // nil where rows go on from their last tau
}

func newRowSweep(data *rows.Data, f *sheet.Sheet, n int, unit float64) *rowSweep {
	k := 1 + f.Latent + forms(f)
	vec := func(n int) []float64 { return make([]float64, n) }
	return &rowSweep{
		data: data, f: f, alone: nearest.NewQuadratic(f), unit: unit, rows: n,
		pulled: vec(f.M * n), whole: vec(n), rho: vec(n), slope: vec(n), u: vec(n),
		y: vec(n * k), wy: vec(n * k), direct: vec(f.D),
	}
}

// goOn warm-starts rows at their last tau.
func (s *rowSweep) goOn() *rowSweep {
	s.projection = nearest.NewBatch(s.f, nearest.Tolerance{Step: sweepPrecision})
	return s
}

// anew computes tau without a warm start.
func (s *rowSweep) anew() *rowSweep {
	s.stateless = nearest.NewProjection(s.f)
	s.alone = s.stateless.Quadratic
	s.projection = nearest.NewStatelessBatch(s.f)
	s.reload()
	return s
}

// reload must be called after a change of Theta.
func (s *rowSweep) reload() {
	s.projection.Reload()
}

// batch improves tau of the rows [from, to), and adds their losses and moments to m.
func (s *rowSweep) batch(m *Moments, next, tau []float64, from, to int) {
	f, n := s.f, to-from
	u, slope := s.u[:n], s.slope[:n]
	x, next := s.data.X[from*f.D:to*f.D], next[from*f.Latent:to*f.Latent]
	copy(next, tau[from*f.Latent:to*f.Latent])
	s.place(x, next, n)
	s.loss.Rho(s.rho[:n], slope, nil, u)
	least := shortestResidual * s.unit
	for i, v := range u {
		if v < least*least {
			u[i] = least * least
			s.loss.Rho(nil, slope[i:i+1], nil, u[i:i+1])
		}
		weight := s.data.Weight(from + i)
		m.cost += weight * s.rho[i]
		slope[i] *= weight
	}
	regressors(f, s.y, s.wy, next, slope, s.unit)
	m.accumulate(x, f.C, s.y, s.wy, n)
}

// place improves tau for n rows of x, and writes their squared residuals into u.
func (s *rowSweep) place(x, tau []float64, n int) {
	D, d := s.f.D, s.f.Latent
	s.f.DeviationsToFrame(s.pulled, s.rows, s.whole, x, n)
	if s.stateless != nil {
		s.projection.Project(s.u, tau, s.pulled, s.rows, s.whole, n)
	} else {
		s.projection.Improve(s.u, tau, s.pulled, s.rows, s.whole, n, sweepSteps)
	}
	for i := range n {
		if !(s.u[i] > nearest.LostDigits*s.whole[i]) {
			s.u[i] = s.project(x[i*D:(i+1)*D], i, tau[i*d:(i+1)*d])
		}
	}
}

// regressors fills y and wy for rows with these weights.
func regressors(f *sheet.Sheet, ys, wys, tau, weights []float64, unit float64) {
	perUnit := 1 / unit
	k := 1 + f.Latent + forms(f)
	if f.Latent == 2 && k == 6 {
		surfaceRegressors(ys, wys, tau, weights, perUnit)
		return
	}
	for i, weight := range weights {
		y, wy := ys[i*k:(i+1)*k], wys[i*k:(i+1)*k]
		y[0] = 1
		scaled := y[1 : 1+f.Latent]
		for j, t := range tau[i*f.Latent : (i+1)*f.Latent] {
			scaled[j] = t * perUnit
		}
		if f.S > 0 {
			sheet.Vech(y[1+f.Latent:], scaled)
		}
		for j, v := range y {
			wy[j] = weight * v
		}
	}
}

// surfaceRegressors fills y and wy for d = 2.
func surfaceRegressors(y, wy, tau, weights []float64, perUnit float64) {
	for i, w := range weights {
		a, b := tau[2*i]*perUnit, tau[2*i+1]*perUnit
		wa, wb := w*a, w*b
		*(*[6]float64)(y[6*i:]) = [6]float64{1, a, b, a * a, a * b, b * b}
		*(*[6]float64)(wy[6*i:]) = [6]float64{w, wa, wb, wa * a, wa * b, wb * b}
	}
}

// project improves tau for row i of a batch, x, and returns the squared residual
// |x - c|^2 - |Q'(x - c)|^2 + |Q'(x - c) - z|^2.
func (s *rowSweep) project(x []float64, i int, tau []float64) float64 {
	f, p, whole := s.f, s.alone, s.whole[i]
	for k := range p.Y {
		p.Y[k] = s.pulled[k*s.rows+i]
	}
	var inside float64
	switch {
	case f.S == 0: // a flat sheet
		copy(tau, p.Y)
	case s.stateless != nil:
		inside = s.stateless.Find(tau)
	default:
		inside = p.Minimize(tau, sweepSteps, sweepPrecision)
	}
	if u := whole - floats.Dot(p.Y, p.Y) + inside; u > nearest.LostDigits*whole {
		return u
	}
	floats.SubTo(s.direct, x, f.C)
	for j, v := range tau {
		floats.AddScaled(s.direct, -v, f.Axis(j))
	}
	for k := f.Latent; k < f.M && f.S > 0; k++ {
		floats.AddScaled(s.direct, -p.E[k]-p.Y[k], f.Axis(k))
	}
	return floats.Dot(s.direct, s.direct)
}
