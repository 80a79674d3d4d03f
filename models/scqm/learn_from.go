package scqm

import (
	"context"
	"errors"
	"fmt"
	"hash"

	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
	"github.com/scqm/scqm/models/scqm/internal/streaming"
	"github.com/scqm/scqm/solvers"
)

// LearnFrom fits a model to rows that need not be in memory, nor on this machine. It only uses sums over blocks of
// rows, which an engine computes. c, Q and Theta are bit-identical for every engine: on one machine or many, with any
// number of threads and any partition of the blocks, and after lost parts were summed again. On processors of one
// kind they also equal those of [Learn] with the solver [solvers.Streaming].
//
// Each read recomputes the coordinates of a row from the row and the sheet alone. For l2, squared_l2, huber and
// similar losses a read is one majorize-minimize step. For other losses a read gives cost and gradient with tau
// eliminated, for L-BFGS. The start is a short fit in memory to a sample of at most 2,000 rows, with Inits starts; it
// takes two reads. The objective is that of projected rows, as computed by [Model.Transform], which takes a longer read
// at the end.
//
// Model.Tau is nil; see [Model.Transform]. As in Learn, status and residuals are computed from sums over all rows.
// The curvature times the extent is computed from at most 16384 evenly spread rows. A checkpoint only holds the model
// and the state of the solver.
//
// The time limit ends a fit between two reads. The reads of the start, of the first cost and of the final report
// always run.
//
// LearnFrom does not support missing entries, nor the choice of the ridge by held-out rows. A nil Solver stands for
// solvers.Streaming.
func LearnFrom(ctx context.Context, e Engine, c Config) (*Fit, error) {
	c.Options = c.Options.Begun()
	if c.Solver == nil {
		c.Solver = solvers.Streaming{}
	}
	n, D := e.Shape()
	if err := c.checkStream(n, D); err != nil {
		return nil, err
	}
	columns, notes := c.curvature(Data{N: n, D: D})
	p := streaming.New(ctx, e, c.Loss, c.Latent, columns)
	var err error
	f := &streamFit{ctx: ctx, c: c, p: p, columns: columns, notes: notes}
	if f.starts, err = p.NewStarts(); err != nil {
		return nil, err
	}
	l, err := roundedFor(c.Loss, f.starts.Sample())
	_, kinks := l.(framework.Smoother)
	if _, known := c.Loss.(framework.Smoother); err == nil && kinks && !known { // engines have the loss as it is
		err = fmt.Errorf("scqm: the gradient of the loss %s jumps: let the loss implement framework.Smoother for fits by sums over blocks: %w", c.Loss.Name(), ErrInput)
	}
	if err != nil {
		return nil, err
	}
	if err := f.screen(); err != nil {
		return nil, err
	}
	return f.fitScreened()
}

// streamFit is a fit to rows that an engine reads.
type streamFit struct {
	ctx       context.Context
	c         Config
	p         *streaming.Problem
	starts    *streaming.Starts
	columns   int
	notes     []string
	screening *screening
}

// screen tests a sample of the rows for curvature and searches planes; see [request.screen].
func (f *streamFit) screen() error {
	if f.columns == 0 {
		return nil
	}
	var err error
	sample := f.starts.Sample()
	f.screening, err = newScreening(f.ctx, sample, sample, f.c.Latent, f.columns, f.c.Seed)
	if err != nil {
		return err
	}
	f.screening.learn = learnInMemory
	if !f.c.ruled() {
		return nil
	}
	f.columns = f.screening.columns(f.columns)
	return nil
}

// fitScreened fits a model. It fits again if the evidence in the rows supports less curvature.
func (f *streamFit) fitScreened() (*Fit, error) {
	return fitScreened(f.ctx, f.screening, f.c, f.p.Weight, &f.columns, f.fit)
}

// fit runs the solver from a fit to the sample.
func (f *streamFit) fit(c Config) (*Fit, error) {
	p := f.p
	from, err := f.ofSample(c)
	if err != nil {
		return nil, err
	}
	f.starts.Begin(f.columns, c.ridge(), from)
	run, failure := p.Run(f.ctx, f.starts, c.Solver, c.streamLimits(p, f.starts))
	if run == nil {
		return nil, fitError(failure, true)
	}
	model, curvature := modelOf(run, p, c.Loss)
	fit := &Fit{Run: run.Result, Model: model, Reads: p.Reads()}
	fit.Model.Meta = c.streamMeta(p, run, f.notes)
	fit.Model.Meta.judgeCurvature(curvature)
	return fit, fitError(failure, false)
}

// ofSample returns c, Q and Theta of a short fit to the sample, nil if that fails. A stream from there takes fewer
// reads than one from a plane, and no reads to choose among planes or starts.
func (f *streamFit) ofSample(c Config) (framework.Point, error) {
	c.Solver, c.Curvature, c.Linear = nil, f.columns, f.columns == 0
	c.Options = shortFit(c.Options)
	fit, err := learnInMemory(f.ctx, f.starts.Sample(), c)
	if large := (*memory.Error)(nil); errors.As(err, &large) { // less memory must not give another model
		large.Less = ""
		return nil, fmt.Errorf("scqm: a fit of some of the rows, from which a stream begins: %w", large)
	}
	if err != nil || fit.Model.Curvature != f.columns {
		return nil, f.ctx.Err()
	}
	return pointOf(fit.Model.sheet(), 0)[:BlockTau], nil
}

// checkStream rejects settings that streamed fits do not support.
func (c Config) checkStream(n, D int) error {
	if n < 1 || D < 1 {
		return fmt.Errorf("scqm: data are %d x %d; at least one row and one column are needed: %w", n, D, ErrInput)
	}
	if err := c.check(D); err != nil {
		return err
	}
	switch l, fixed := c.Loss.(rowloss.Dimensioned); {
	case fixed && l.Dim() != D:
		return fmt.Errorf("scqm: loss %s is for rows of length %d, the data have %d columns: %w", c.Loss.Name(), l.Dim(), D, ErrInput)
	case c.IgnoreMissing:
		return fmt.Errorf("scqm: rows with missing entries are not streamed; fit them in memory, or impute them first: %w", ErrInput)
	case c.Ridge == AutoRidge:
		return fmt.Errorf("scqm: the ridge is not chosen while streaming; choose it on some of the rows, as by Suggest, and give the number: %w", ErrInput)
	}
	if !sumsBlocks(c.Solver) {
		return fmt.Errorf("scqm: the solver %s needs all rows in memory; use streaming, or auto: %w", c.Solver.Name(), ErrInput)
	}
	return nil
}

// sumsBlocks reports whether a solver works by sums over blocks.
func sumsBlocks(s framework.Solver) bool {
	_, ok := s.(solvers.Streaming)
	return ok
}

// learnAsStream does what LearnFrom does, for rows in memory. It also returns their coordinates.
func learnAsStream(ctx context.Context, x Data, c Config) (*Fit, error) {
	held, err := reserve("fit", x, float64(x.N)*float64(c.Latent)) // for the coordinates, all that passes over blocks leave
	if err != nil {
		return nil, err
	}
	defer held.Release()
	fit, failure := LearnFrom(ctx, &LocalEngine{Source: x, Loss: c.Loss, Threads: c.Threads}, c)
	if fit == nil {
		return nil, failure
	}
	if ctx.Err() != nil {
		if l := rowloss.StructureOf(c.Loss); l != rowloss.StructureRadial && l != rowloss.StructureQuadratic {
			return fit, failure // projection is slow for other losses
		}
		ctx = context.WithoutCancel(ctx)
	}
	fit.Model.Tau, err = fit.Model.Transform(ctx, x, c.Threads)
	if failure == nil {
		failure = err
	}
	return fit, failure
}

// streamLimits returns the options of a run, with the limits that apply to a streamed run.
func (c Config) streamLimits(p *streaming.Problem, s *streaming.Starts) framework.Options {
	o := c.Options
	o.FirstOrder = true // testing for saddles takes dozens of reads
	return c.fingerprinted(o, p.N(), p.Shape().D, p.Shape().S, c.Solver, func(h hash.Hash) { h.Write(s.ID()) })
}

// modelOf returns the model of a run, in canonical form, and its curvature times extent.
func modelOf(r *streaming.Run, p *streaming.Problem, loss framework.Loss) (m *Model, curvature float64) {
	shape, x := p.Shape(), r.Result.Point
	f := sheet.New(shape.D, shape.Latent, shape.S)
	f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	m = &Model{Loss: loss}
	m.fromSheet(f)
	if r.Cost == nil {
		return m, 0
	}
	var tau, weights []float64
	d := shape.Latent
	for at := 0; at < len(r.Cost.Sample); at += 1 + d {
		weights = append(weights, r.Cost.Sample[at])
		tau = append(tau, r.Cost.Sample[at+1:at+1+d]...)
	}
	curvature = m.CurvatureExtent(tau, weights)
	sheet.Canonicalize(f, likeTau(r.Cost, d), nil)
	m.fromSheet(f)
	return m, curvature
}

// likeTau returns rows of d coordinates with the mean and the covariance of all tau_i, which determine the
// canonical form.
func likeTau(o *blocks.FirstOrder, d int) []float64 {
	mean, cov := make([]float64, d), mat.NewSymDense(d, nil)
	for i := range d {
		mean[i] = o.TauSum[i] / o.Weight
	}
	for i := range d {
		for j := range i + 1 {
			cov.SetSym(i, j, o.TauSquares[i*d+j]/o.Weight-mean[i]*mean[j])
		}
	}
	return sheet.Scatter(mean, cov)
}

// streamMeta returns the Meta of a fit; see [Problem.meta].
func (c Config) streamMeta(p *streaming.Problem, r *streaming.Run, notes []string) Meta {
	var kkt *KKT
	if r.Norms != nil {
		n := float64(p.N())
		kkt = &KKT{C: r.Norms.Lengths[BlockC] / n, Q: r.Norms.Lengths[BlockQ] / n, Theta: r.Norms.Lengths[BlockTheta] / n, Tau: r.Norms.Lengths[BlockTau] / n}
	}
	return c.meta(p.Shape(), p.N(), p.Weight(), p.Penalty(nil, r.Result.Point[BlockTheta]), c.Solver, r.Result, kkt, notes)
}
