package core

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// Prepared is a method prepared for a cloud. It may be used by several goroutines at once.
type Prepared struct {
	Method Method
	Cloud  *Cloud
	Fitted Fitted
	// Size is the number of neighbours used to judge results.
	Size int
}

// Prepare prepares a method for a cloud. Settings that depend on the rows must have been chosen, see [Settle].
func Prepare(ctx context.Context, m Method, c *Cloud, o Options) (*Prepared, error) {
	size, err := m.Size(c.Count(), c.D)
	if err != nil {
		return nil, err
	}
	fitted, err := m.Prepare(ctx, c, o)
	if err != nil {
		return nil, err
	}
	return &Prepared{Method: m, Cloud: c, Fitted: fitted, Size: size}, nil
}

// Result holds the denoised rows and their reports.
type Result struct {
	// X holds the denoised rows, in the order and shape of the input.
	X []float64
	// Rows reports how each row was denoised.
	Rows []Row
	// ShareError is the root mean square distance, over up to 256 rows on shared charts, between their results with
	// shared charts and with charts of their own. ShareMoved is the root mean square distance by which the same rows
	// moved. Both are 0 without Share.
	ShareError, ShareMoved float64
	// Surface holds the surface data that Denoise has collected; only Geometry uses it.
	Surface any
}

// RowsAtATime is the number of rows of one job of a goroutine.
const RowsAtATime = 16

// goroutines is the number of goroutines that denoise. It exceeds threads if most of them wait for the program that
// computes the loss.
func (d *Prepared) goroutines(threads int) int {
	if m, ok := d.Method.(interface{ Callers() int }); ok {
		return max(par.Threads(threads), m.Callers())
	}
	return par.Threads(threads)
}

// NewResult returns the rows unchanged.
func NewResult(x rows.Data) *Result {
	r := &Result{X: slices.Clone(x.X), Rows: make([]Row, x.N)}
	for i := range r.Rows {
		r.Rows[i].Unchanged = true
	}
	return r
}

// Denoise denoises rows with the columns of the cloud.
func (d *Prepared) Denoise(ctx context.Context, x rows.Data, o Options) (*Result, error) {
	r, err := d.Each(ctx, x, o)
	if err == nil && o.Share > 0 {
		err = d.compareShared(ctx, x, r, o)
	}
	return r, err
}

// Each denoises rows that have been checked, job by job.
func (d *Prepared) Each(ctx context.Context, x rows.Data, o Options) (*Result, error) {
	r := NewResult(x)
	jobs := d.jobs(x, o)
	workers := make([]*safeWorker, d.goroutines(o.Threads))
	errs := make([]error, len(jobs))
	bar := Progress{Report: o.Progress, Total: x.N}
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
		bar.Add(len(jobs[k].rows))
	})
	if err := ctx.Err(); err != nil {
		return r, err
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (o Options) Check(got, want int) error {
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

// job is a set of rows for one goroutine. They share a chart if centre is not nil.
type job struct {
	rows   []int
	centre []float64
}

// traveller is a worker that reuses results of a row for the next one.
type traveller interface{ Travels() }

// jobs cuts the rows of x into jobs.
func (d *Prepared) jobs(x rows.Data, o Options) []job {
	if o.Share > 0 {
		return d.sharedJobs(x, o.Share)
	}
	all := make([]int, x.N)
	for i := range all {
		all[i] = i
	}
	if _, travels := d.Fitted.(traveller); travels {
		all = lookup.AlongCurve(x.X, x.D, all)
	}
	var jobs []job
	for from := 0; from < x.N; from += RowsAtATime {
		jobs = append(jobs, job{rows: all[from:min(from+RowsAtATime, x.N)]})
	}
	return jobs
}

// safeWorker checks the result of a worker for each row.
type safeWorker struct {
	d         *Prepared
	o         Options
	worker    Worker
	search    lookup.Search
	neighbors Neighborhood
	charts    []lookup.Near
	about     Row       // of the row at hand
	point     []float64 // D
	sum       []float64 // D
}

func (d *Prepared) newSafeWorker(ctx context.Context, o Options) (*safeWorker, error) {
	if o.Reach == 0 {
		o.Reach = 2
	}
	w, err := d.Fitted.Worker(ctx)
	if err != nil {
		return nil, err
	}
	D := d.Cloud.D
	return &safeWorker{d: d, o: o, worker: w, point: make([]float64, D), sum: make([]float64, D)}, nil
}

// do denoises the rows of a job. When ctx is done it stops and leaves the remaining rows unchanged.
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
		if fatal(err) {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("denoise: row %d: %w", i, err)
		}
		g.judge(&g.about, err, x.Row(i))
		if !g.about.Unchanged {
			copy(r.X[i*x.D:(i+1)*x.D], g.point)
			g.about.Residual = rows.Distance(g.point, x.Row(i))
		}
		r.Rows[i] = g.about
	}
	return nil
}

func fatal(err error) bool { return err != nil && !errors.Is(err, ErrNoSurface) }

func (g *safeWorker) place(centre []float64, about *Row) error {
	g.neighbors.At(g.d.Cloud, &g.search, centre, g.d.Size)
	about.Neighbors = g.neighbors.N()
	return g.worker.Place(&g.neighbors, about)
}

// judge flags points, and rows, that are far from the neighbours.
func (g *safeWorker) judge(about *Row, err error, x []float64) {
	far := rows.Distance(g.point, g.neighbors.mean)
	switch limit := g.o.Reach * g.neighbors.Radius; {
	case err != nil, math.IsNaN(far), math.IsInf(far, 0):
		about.Unchanged = true
	case far > limit && rows.Distance(g.point, x) > limit/1e6:
		about.Unchanged = true
	}
	if w, ok := g.worker.(noiseBound); ok && rows.Distance(x, g.point) > w.MaxNoise() {
		about.Unchanged = true
	}
	from := rows.Distance(x, g.neighbors.mean)
	about.Extrapolated = about.Unchanged || far > g.neighbors.Radius*(1+1e-9) || from > g.neighbors.ball*(1+1e-9)
	if math.IsNaN(about.Noise) || math.IsInf(about.Noise, 0) {
		about.Noise = 0
	}
}

// noiseBound is a worker with a bound for the displacement of rows by noise. If charts move a row further, the row is
// an outlier, or the charts are not those of its surface.
type noiseBound interface{ MaxNoise() float64 }

// Progress reports the fraction of the work that is done.
type Progress struct {
	mu          sync.Mutex
	Report      func(float64)
	done, Total int
}

func (p *Progress) Add(n int) {
	if p.Report == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	p.Report(float64(p.done) / float64(p.Total))
}
