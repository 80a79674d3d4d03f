package alternating

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// metricSweep holds the buffers of Sweep under a loss r'Mr. Rows are whitened once, so that it is the
// squared norm; the frame RQ then is not orthonormal, and with A = Q'MQ and y = A^-1 Q'M(x - c)
//
//	r'Mr = |R(x - c)|^2 - y'Ay + (z - y)'A(z - y),
//
// where only the last term depends on tau.
type metricSweep struct {
	o       *objective.Objective
	f       *sheet.Sheet
	version uint64          // of the data
	x, next framework.Point // of the sweep under way
	white   []float64       // n x D: the rows, whitened
	centre  []float64       // D: Rc
	frame   []float64       // m x D: RQ
	inverse []float64       // m x D: A^-1 (RQ)'
	gram    []float64       // m x m: A
	factor  []float64       // m x m
	solved  []float64       // m x m: A^-1
	shards  []*Moments
	total   *Moments
	errs    []error
	rows    []*metricRows // per worker
	metric  metric
	outer   *metricOuter
	unit    float64
}

// sweepMetric is Sweep for a loss r'Mr, on the sheet loaded last.
func (p *Sweeper) sweepMetric(next, x framework.Point, loss framework.Quadratic) (float64, error) {
	o := p.o
	if p.metric == nil || p.metric.version != o.Version() {
		a, err := newMetricSweep(o, p.f, loss)
		if err != nil {
			return 0, err
		}
		p.metric = a
	}
	a := p.metric
	a.x, a.next = x, next
	a.load()
	par.Do(o.Threads(), len(a.shards), a.shard)
	a.total.reset()
	for i, s := range a.shards {
		if a.errs[i] != nil {
			return 0, a.errs[i]
		}
		a.total.add(s)
	}
	cost := a.total.cost + o.Penalty(nil, x[objective.BlockTheta])
	a.outer.solve(next, a.total, o.Regularizer)
	return cost, nil
}

func newMetricSweep(o *objective.Objective, f *sheet.Sheet, loss framework.Quadratic) (*metricSweep, error) {
	metric, ok := newMetric(loss, f.D)
	if !ok {
		return nil, fmt.Errorf("scqm: loss %s: its matrix is not positive definite to working precision: %w", o.Loss().Name(), rows.ErrInput)
	}
	vec := func(n int) []float64 { return make([]float64, n) }
	data := o.Data()
	a := &metricSweep{
		o: o, f: f, version: o.Version(), white: append([]float64(nil), data.X...), metric: metric,
		centre: vec(f.D), frame: vec(f.M * f.D), inverse: vec(f.M * f.D), gram: vec(f.M * f.M), factor: vec(f.M * f.M), solved: vec(f.M * f.M),
		shards: make([]*Moments, par.Shards(data.N)), errs: make([]error, par.Shards(data.N)),
		total: NewMoments(f).withPairs(), rows: make([]*metricRows, o.Threads()), unit: rows.LengthScale(*data),
	}
	for i := range a.shards {
		a.shards[i] = NewMoments(f).withPairs()
	}
	metric.Whiten(a.white)
	a.outer = newMetricOuter(f, metric, a.unit)
	return a, nil
}

// load prepares for the sheet.
func (a *metricSweep) load() {
	f := a.f
	copy(a.centre, f.C)
	a.metric.Whiten(a.centre)
	copy(a.frame, f.QT)
	a.metric.Whiten(a.frame)
	dense.FrameProducts(a.gram, f.M, nil, a.frame, nil, a.frame, f.M, f.M, f.D)
	copy(a.factor, a.gram)
	if !dense.Cholesky(a.factor, f.M, 0) {
		dense.JitteredCholesky(a.factor, f.M)
	}
	clear(a.solved)
	for i := range f.M {
		a.solved[i*f.M+i] = 1
	}
	dense.SolveCholeskyRows(a.solved, a.factor, f.M, f.M)
	clear(a.inverse)
	dense.AddRowProduct(a.inverse, a.solved, a.frame, f.M, f.M, f.D)
}

// shard sweeps over the rows of one shard.
func (a *metricSweep) shard(id, shard int) {
	if a.rows[id] == nil {
		a.rows[id] = newMetricRows(a.f, min(nearest.BatchRows(a.f, a.o.Data().N), SweepRows))
	}
	r, m := a.rows[id], a.shards[shard]
	r.point.Metric = a.gram
	m.reset()
	lo, hi := par.Bounds(a.o.Data().N, shard)
	for from := lo; from < hi; from += r.rows {
		if a.errs[shard] = a.o.Context().Err(); a.errs[shard] != nil {
			return
		}
		a.batch(r, m, from, min(from+r.rows, hi))
	}
}

// metricRows holds the buffers of one goroutine.
type metricRows struct {
	point   *nearest.Quadratic
	rows    int       // at a time
	pulled  []float64 // m x rows: y, one axis after the other
	whole   []float64 // rows: |R(x - c)|^2
	weights []float64 // rows
	y, wy   []float64 // rows x (1+d+q): [1; y], and that times the weight
	direct  []float64 // D
}

func newMetricRows(f *sheet.Sheet, n int) *metricRows {
	vec := func(n int) []float64 { return make([]float64, n) }
	k := 1 + f.Latent + forms(f)
	return &metricRows{
		point: nearest.NewQuadratic(f), rows: n, pulled: vec(f.M * n), whole: vec(n), weights: vec(n),
		y: vec(n * k), wy: vec(n * k), direct: vec(f.D),
	}
}

// batch improves tau of the rows [from, to), and adds their losses and moments to m.
func (a *metricSweep) batch(r *metricRows, m *Moments, from, to int) {
	f, n, d := a.f, to-from, a.f.Latent
	x, next := a.white[from*f.D:to*f.D], a.next[objective.BlockTau][from*d:to*d]
	copy(next, a.x[objective.BlockTau][from*d:to*d])
	dense.FrameProducts(r.pulled, r.rows, r.whole, x, a.centre, a.inverse, n, f.M, f.D)
	for i := range n {
		weight := a.o.Data().Weight(from + i)
		r.weights[i] = weight
		m.cost += weight * a.place(r, x[i*f.D:(i+1)*f.D], i, next[i*d:(i+1)*d])
	}
	regressors(f, r.y, r.wy, next, r.weights[:n], a.unit)
	m.accumulate(x, a.centre, r.y, r.wy, n)
}

// place improves tau for row i of a batch, x, and returns its loss.
func (a *metricSweep) place(r *metricRows, x []float64, i int, tau []float64) float64 {
	f, p := a.f, r.point
	for k := range p.Y {
		p.Y[k] = r.pulled[k*r.rows+i]
	}
	inside := p.Minimize(tau, sweepSteps, sweepPrecision)
	loss := r.whole[i] + inside
	for k, v := range p.Y {
		loss -= v * dense.Dot(a.gram[k*f.M:(k+1)*f.M], p.Y)
	}
	if loss > nearest.LostDigits*r.whole[i] {
		return loss
	}
	floats.SubTo(r.direct, x, a.centre)
	for k, v := range p.E {
		floats.AddScaled(r.direct, -v-p.Y[k], a.frame[k*f.D:(k+1)*f.D])
	}
	return floats.Dot(r.direct, r.direct)
}
