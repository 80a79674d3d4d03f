package denoise

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// Denoiser is a method fitted to rows. It may be used by several goroutines at
// once.
type Denoiser struct {
	method Method
	cloud  *Cloud
	fitted Fitted
	size   int
	unit   float64 // of the cloud and of the settings of the method
	plane  *plane  // whose coordinates the cloud has; nil for those of the rows
	number []int   // of the rows to be denoised, in messages; nil counts them
	note   string

	orienting sync.Mutex
	oriented  *orientedPlaces // once it is asked for
}

// Result is what became of the rows.
type Result struct {
	// X are the denoised rows, in the order and shape of those given.
	X []float64
	// Rows says how each of them was denoised.
	Rows []Row
	// ShareError is the root mean square distance of rows on shared charts from
	// where charts of their own take them, over up to 256 of the rows, and
	// ShareMoved that of the same rows from where they were; 0 without Share.
	ShareError, ShareMoved float64
	// need is that of searches for rows which are not Done.
	need float64
}

// Fit prepares a method to denoise rows near the surface that the rows of x are
// near to. Equal rows count as one with the sum of their weights. It keeps the
// memory of x, which must not change, or takes as much where the size of the rows
// is beyond 2^100 or below 2^-100: then it works in another unit. It fails with
// [ErrInput] if x or the settings cannot be used.
func Fit(ctx context.Context, m Method, x rows.Data, o Options) (*Denoiser, error) {
	m, x, unit, copied, err := intoUnits(m, x)
	if err != nil {
		return nil, err
	}
	if copied != nil {
		defer copied.Release()
	}
	d, err := fit(ctx, m, x, o)
	if err == nil {
		d.unit = unit
	}
	return d, err
}

// fit prepares a method for the rows as they are.
func fit(ctx context.Context, m Method, x rows.Data, o Options) (*Denoiser, error) {
	if err := checkRows(x); err != nil {
		return nil, err
	}
	p, linear, err := findPlane(ctx, m, x, o)
	if err != nil {
		return nil, err
	}
	if linear != nil && linear.plain(p) {
		return fitLinear(ctx, x, linear, mostLatent(m), linear.why(mostLatent(m), "more than ", linear.bent), o)
	}
	d, err := fitCharts(ctx, withLinear(m, linear, p), p, x, o)
	if err != nil {
		return nil, err
	}
	if flat, ok := d.fitted.(*flatter); ok {
		return fitLinear(ctx, x, linear, latentOf(d.method), flat.why, o)
	}
	return d, nil
}

// fitCharts prepares a method for the coordinates of rows along the axes of a plane.
func fitCharts(ctx context.Context, m Method, p *plane, x rows.Data, o Options) (*Denoiser, error) {
	m = onPlane(m, p)
	held, err := reserveFit(m, p.size(x), o)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	c, err := p.cloud(x, o)
	if err != nil {
		return nil, err
	}
	if _, err := m.Size(len(c.used), c.D); err != nil {
		if c.N < x.N {
			return nil, fmt.Errorf("%w; of %d rows, %d are distinct", err, x.N, c.N)
		}
		return nil, err
	}
	if m, err = settle(ctx, m, c, o); err != nil {
		return nil, err
	}
	d, err := newDenoiser(ctx, m, c, o)
	if err != nil {
		return nil, err
	}
	if a, ok := d.fitted.(*autoFit); ok {
		d.note = a.setting.sheets()
	}
	d.plane = p
	return d, nil
}

// betweenSheets says why rows stay.
const betweenSheets = "auto: rows are as they came: they are on two sheets, about four to ten standard deviations of the noise apart, and too few to tell these from each other; any surface found would be between them"

// closeSides is the distance of two sheets, in units of the noise, below which more than one row in forty goes to the wrong one.
const closeSides = 4

// sheets says that rows are on two sheets too near to each other for all to be on the right one.
func (s *setting) sheets() string {
	apart := 2 * s.Sides / s.Scale
	switch {
	case s.between:
		return betweenSheets
	case s.Sides > 0 && apart < closeSides:
		return fmt.Sprintf("auto: rows are on two sheets, %.1f standard deviations of the noise apart, and have gone to the one that they are nearer to, which is not that of all", apart)
	}
	return ""
}

// fitLinear prepares a linear model in place of charts of dimension d.
func fitLinear(ctx context.Context, x rows.Data, l *linearModel, d int, why string, o Options) (*Denoiser, error) {
	out, err := fitCharts(ctx, l.method(d), l.plane, x, o)
	if err == nil {
		out.note = why
	}
	return out, err
}

func newDenoiser(ctx context.Context, m Method, c *Cloud, o Options) (*Denoiser, error) {
	size, err := m.Size(c.rows(), c.D)
	if err != nil {
		return nil, err
	}
	d := &Denoiser{method: m, cloud: c, size: size, unit: 1}
	if d.fitted, err = m.Prepare(ctx, c, o); err != nil {
		return nil, err
	}
	return d, nil
}

// Method returns the method, with the settings that it has taken from the rows.
func (d *Denoiser) Method() Method {
	m, _ := methodIn(d.method, 1/d.unit)
	return onPlane(m, nil)
}

// Note says why the method is not the one asked for; it is empty where it is.
func (d *Denoiser) Note() string { return d.note }

// Neighbors returns the number of neighbours by which results are judged, and
// with all methods but [Auto] the one that charts are made from.
func (d *Denoiser) Neighbors() int { return d.size }

// rowsAtATime is the number of rows that a goroutine takes at once.
const rowsAtATime = 16

// goroutines is the number of those that denoise: more than threads where most
// of them wait for the program that computes the loss.
func (d *Denoiser) goroutines(threads int) int {
	if m, ok := d.method.(SCQM); ok {
		if l, ok := m.Loss.(framework.HighLatency); ok {
			return max(par.Threads(threads), l.Callers())
		}
	}
	return par.Threads(threads)
}

// Denoise denoises the rows of x, which may be those fitted or others of the same
// length; their weights do not matter. When ctx is done it returns the error of
// ctx with a result in which only some rows are Done, and the others are as they
// came.
func (d *Denoiser) Denoise(ctx context.Context, x rows.Data, o Options) (*Result, error) {
	x.Weights = nil
	if d.unit == 1 {
		return d.denoise(ctx, x, o)
	}
	held, err := reserveUnits(d.method, x)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	r, err := d.denoise(ctx, x.InUnits(d.unit), o)
	if r != nil {
		r.leaveUnits(d.unit, x)
	}
	return r, err
}

// denoise denoises rows in the unit of the cloud.
func (d *Denoiser) denoise(ctx context.Context, x rows.Data, o Options) (*Result, error) {
	if err := checkRows(x); err != nil {
		return nil, err
	}
	if err := o.check(x.D, d.columns()); err != nil {
		return nil, err
	}
	held, err := d.reserveDenoise(x, o)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	if d.plane != nil {
		return d.denoiseWide(ctx, x, o)
	}
	return d.denoiseCharted(ctx, x, o)
}

// denoiseCharted denoises rows with the columns of the cloud.
func (d *Denoiser) denoiseCharted(ctx context.Context, x rows.Data, o Options) (*Result, error) {
	r, err := d.each(ctx, x, o)
	if err == nil && o.Share > 0 {
		err = d.compareShared(ctx, x, r, o)
	}
	return r, err
}

// each denoises rows that have been checked, job by job. Rows that the cloud, being a
// part of one, cannot serve are left as they are and not Done.
func (d *Denoiser) each(ctx context.Context, x rows.Data, o Options) (*Result, error) {
	r := &Result{X: append([]float64(nil), x.X...), Rows: make([]Row, x.N)}
	jobs := d.jobs(x, o)
	workers := make([]*safeWorker, d.goroutines(o.Threads))
	errs := make([]error, len(jobs))
	bar := progress{report: o.Progress, total: x.N}
	par.Do(len(workers), len(jobs), func(w, k int) {
		if ctx.Err() != nil {
			return
		}
		if workers[w] == nil {
			if workers[w], errs[k] = d.newSafeWorker(ctx, o); errs[k] != nil {
				return
			}
		}
		errs[k] = workers[w].do(ctx, jobs[k], x, r)
		bar.add(len(jobs[k].rows))
	})
	if err := ctx.Err(); err != nil {
		return r, err
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	for _, w := range workers {
		if w != nil {
			r.need = max(r.need, w.need())
		}
	}
	return r, nil
}

func (o Options) check(got, want int) error {
	switch {
	case got != want:
		return fmt.Errorf("denoise: the rows have %d columns, those fitted have %d: %w", got, want, ErrInput)
	case !(o.Reach >= 0):
		return fmt.Errorf("denoise: reach is %v, want a number of at least 0: %w", o.Reach, ErrInput)
	case o.Average < 0:
		return fmt.Errorf("denoise: average over %d charts, want at least 0: %w", o.Average, ErrInput)
	case !(o.Share >= 0) || o.Share > 1:
		return fmt.Errorf("denoise: share is %v, want a fraction from 0 to 1: %w", o.Share, ErrInput)
	case o.Share > 0 && o.Average > 1:
		return fmt.Errorf("denoise: charts are shared or averaged over, not both: %w", ErrInput)
	}
	return nil
}

// job is rows for one goroutine. They share a chart if centre is not nil.
type job struct {
	rows   []int
	centre []float64
}

// jobs cuts the rows of x into jobs.
func (d *Denoiser) jobs(x rows.Data, o Options) []job {
	if o.Share > 0 {
		return d.sharedJobs(x, o.Share)
	}
	all := make([]int, x.N)
	for i := range all {
		all[i] = i
	}
	if _, averaged := d.fitted.(*autoFit); averaged {
		all = lookup.AlongCurve(x.X, x.D, all)
	}
	var jobs []job
	for from := 0; from < x.N; from += rowsAtATime {
		jobs = append(jobs, job{rows: all[from:min(from+rowsAtATime, x.N)]})
	}
	return jobs
}

// safeWorker checks what a worker does with each row.
type safeWorker struct {
	d         *Denoiser
	o         Options
	worker    Worker
	search    lookup.Search
	neighbors Neighborhood
	charts    []lookup.Near
	about     Row       // of the row at hand
	point     []float64 // D
	sum       []float64 // D
}

func (d *Denoiser) newSafeWorker(ctx context.Context, o Options) (*safeWorker, error) {
	if o.Reach == 0 {
		o.Reach = defaultReach
	}
	w, err := d.fitted.Worker(ctx)
	if err != nil {
		return nil, err
	}
	D := d.cloud.D
	return &safeWorker{d: d, o: o, worker: w, point: make([]float64, D), sum: make([]float64, D)}, nil
}

// do denoises the rows of a job, or those it comes to before ctx is done.
func (g *safeWorker) do(ctx context.Context, j job, x rows.Data, r *Result) error {
	var shared Row
	var failure error
	if j.centre != nil {
		g.about = Row{}
		if failure = g.place(j.centre, &g.about); fatal(failure) {
			return failure
		}
		shared = g.about
	}
	for _, i := range j.rows {
		if ctx.Err() != nil {
			return nil
		}
		err := failure
		g.about = shared
		switch {
		case j.centre != nil && err == nil:
			err = g.worker.Project(g.point, x.Row(i))
		case j.centre == nil && g.o.Average > 1:
			err = g.average(x.Row(i), &g.about)
		case j.centre == nil:
			if err = g.place(x.Row(i), &g.about); err == nil {
				err = g.worker.Project(g.point, x.Row(i))
			}
		}
		if g.missed() {
			continue
		}
		if fatal(err) {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("denoise: row %d: %w", g.d.rowNumber(i), err)
		}
		g.judge(&g.about, err, x.Row(i))
		if !g.about.Unchanged {
			copy(r.X[i*x.D:(i+1)*x.D], g.point)
			g.about.Residual = rows.Distance(g.point, x.Row(i))
		}
		g.about.Done = true
		r.Rows[i] = g.about
	}
	return nil
}

func (d *Denoiser) rowNumber(i int) int {
	if d.number == nil {
		return i
	}
	return d.number[i]
}

func fatal(err error) bool { return err != nil && !errors.Is(err, errLocal) }

// missed tells whether neighbours of the row at hand may be elsewhere, and forgets it.
func (g *safeWorker) missed() bool {
	missed := g.search.Missed
	g.search.Missed = false
	if w, ok := g.worker.(searcher); ok {
		missed = w.ownSearch().Missed || missed
		w.ownSearch().Missed = false
	}
	return missed
}

// need is how far rows would have to be known for those that were missed.
func (g *safeWorker) need() float64 {
	need := g.search.Need
	if w, ok := g.worker.(searcher); ok {
		need = max(need, w.ownSearch().Need)
	}
	return need
}

// searcher is a worker that looks up rows by itself.
type searcher interface{ ownSearch() *lookup.Search }

func (g *safeWorker) place(centre []float64, about *Row) error {
	if !g.neighbors.at(g.d.cloud, &g.search, centre, g.d.size) {
		return errLocal
	}
	about.Neighbors = g.neighbors.N()
	return g.worker.Place(&g.neighbors, about)
}

// judge flags points, and rows, that are far from the neighbours.
func (g *safeWorker) judge(about *Row, err error, x []float64) {
	far := rows.Distance(g.point, g.neighbors.mean)
	switch limit := g.o.Reach * g.neighbors.radius; {
	case err != nil, math.IsNaN(far), math.IsInf(far, 0):
		about.Unchanged = true
	case far > limit && rows.Distance(g.point, x) > limit/1e6:
		about.Unchanged = true
	}
	from, moved := rows.Distance(x, g.neighbors.mean), rows.Distance(x, g.point)
	about.Extrapolated = about.Unchanged || far > g.neighbors.radius*(1+1e-9) || from > g.neighbors.ball*(1+1e-9)
	if w, ok := g.worker.(noiseBound); ok && moved > w.maxNoise() {
		about.Extrapolated = true
	}
	if math.IsNaN(about.Noise) || math.IsInf(about.Noise, 0) {
		about.Noise = 0
	}
}

// noiseBound is a worker that knows how far noise alone throws rows.
type noiseBound interface{ maxNoise() float64 }

// progress reports the part of the work that is done.
type progress struct {
	mu          sync.Mutex
	report      func(float64)
	done, total int
}

func (p *progress) add(n int) {
	if p.report == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	p.report(float64(p.done) / float64(p.total))
}

func newFootprint(m Method, x rows.Data, o Options) footprint {
	k, err := m.Size(x.N, x.D)
	if err != nil {
		k = x.N // settled later
	}
	f := footprint{n: float64(x.N), D: float64(x.D), k: float64(k), threads: float64(par.Threads(o.Threads))}
	switch m := m.(type) {
	case Auto:
		f.d, f.k = float64(m.Latent), max(f.k, min(f.n, maxNeighbors))
	case MFIT:
		f.d = float64(m.Latent)
	case SCQM, Select:
		f.fits = true
	}
	return f
}

// reserveFit holds what preparing a method takes: equal rows merged, an index,
// and what the method keeps of every row.
func reserveFit(m Method, x rows.Data, o Options) (*memory.Reservation, error) {
	f := newFootprint(m, x, o)
	numbers := 2*f.n*f.D + f.n*(mergeWords+indexWords+3) + f.workers()
	switch m.(type) {
	case Auto:
		probes := 1.0
		if f.n <= fewRows {
			probes = maxProbes
		}
		numbers += f.n*f.D*placeCopies*(1+probes)/2 + f.n*(indexWords+3)*(2+probes)
		numbers += (classWords(f.D)+lineWords(f.D))*f.n*(1+probes) + compareNumbers(f.n, f.D, probes)
		numbers += (lookup.OrderWords + leadWords + countWords + f.D) * f.n
		numbers += selectionRows * 2 * min(f.n, f.k+1)
		numbers += 2 * f.n * (f.D*(2+f.d+f.d*(f.d+3)/2) + 2) // charts as they are made, and kept
	case MFIT:
		numbers += f.n * (f.d*f.D + 1)
	case APSS, Select:
		numbers += f.n * f.D
	}
	return f.reserve(m, x, numbers)
}

// reserveDenoise holds what denoising rows takes: the rows that come out and
// what is said of them.
func (d *Denoiser) reserveDenoise(x rows.Data, o Options) (*memory.Reservation, error) {
	f := newFootprint(d.method, d.cloud.Data, o)
	f.threads = float64(d.goroutines(o.Threads))
	numbers := float64(x.N)*(float64(x.D)+rowWords+lookup.OrderWords) + f.workers()
	if o.Share > 0 {
		numbers += f.n + 4*float64(x.N)
	}
	return f.reserve(d.method, x, numbers)
}

// reserveUnits holds a copy of the rows.
func reserveUnits(m Method, x rows.Data) (*memory.Reservation, error) {
	return newFootprint(m, x, Options{}).reserve(m, x, float64(x.N)*float64(x.D))
}

// intoUnits divides rows beyond 2^100 or below 2^-100 by a power of two, and the
// settings of a method with them, where the method can be rescaled.
func intoUnits(m Method, x rows.Data) (Method, rows.Data, float64, *memory.Reservation, error) {
	unit := 1.0
	if x.N > 0 && x.D > 0 && len(x.X) == x.N*x.D {
		unit = rows.WorkingUnit(x)
	}
	in, ok := methodIn(m, unit)
	if unit == 1 || !ok {
		return m, x, 1, nil, nil
	}
	held, err := reserveUnits(m, x)
	if err != nil {
		return nil, x, 1, nil, err
	}
	return in, x.InUnits(unit), unit, held, nil
}

// leaveUnits turns a result for rows divided by a unit into that for the rows x.
func (r *Result) leaveUnits(unit float64, x rows.Data) {
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Residual *= unit
		row.Noise *= unit
		out := r.X[i*x.D : (i+1)*x.D]
		if row.Unchanged || !row.Done {
			copy(out, x.Row(i))
			continue
		}
		for j := range out {
			out[j] *= unit
		}
	}
	r.ShareError *= unit
	r.ShareMoved *= unit
}
