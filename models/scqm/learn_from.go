package scqm

import (
	"context"
	"fmt"
	"hash"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
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
// eliminated, for L-BFGS. The start takes two reads, and one more for each further start. The objective is that of
// projected rows, as computed by [Model.Transform], which takes a longer read at the end.
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
	if f.starts, err = p.NewStarts(c.streamStarts()); err != nil {
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

// fit runs the solver from the starts.
func (f *streamFit) fit(c Config) (*Fit, error) {
	p := f.p
	m := c.Latent + f.columns
	given, count, enough := f.screening.starts(c, f.starts.Principal(m), m)
	f.starts.Begin(f.columns, c.ridge(), given)
	best, note, failure := bestStart(count, enough, c.streamLimits(p, f.starts), func(k int, o framework.Options) (*streamRun, error) {
		run, failure := p.Run(f.ctx, f.starts, k, c.Solver, o)
		if run == nil {
			return nil, failure
		}
		r := &streamRun{Run: run}
		r.describe(p, c.Loss)
		return r, failure
	})
	if best == nil {
		return nil, fitError(failure, true)
	}
	notes := slices.Clone(f.notes)
	if note != "" {
		notes = append(notes, note)
	}
	fit := &Fit{Run: best.Result, Model: best.model, Reads: p.Reads()}
	fit.Model.Meta = c.streamMeta(p, best, notes)
	fit.Model.Meta.judgeCurvature(best.finding.curvature)
	return fit, fitError(failure, false)
}

// streamStarts returns the settings of the starts of a streamed fit.
func (c Config) streamStarts() streaming.Settings {
	return streaming.Settings{
		Starts: c.Inits, Components: rotatedComponents, Seed: c.Seed, Ridge: c.ridge(),
	}
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

// streamRun is the run from one start.
type streamRun struct {
	*streaming.Run
	model   *Model
	finding finding
}

func (r *streamRun) outcome() (*framework.Result, finding) {
	if r == nil {
		return nil, finding{}
	}
	return r.Result, r.finding
}

// streamLimits returns the options of a run, with the limits that apply to a streamed run.
func (c Config) streamLimits(p *streaming.Problem, s *streaming.Starts) framework.Options {
	o := c.Options
	o.FirstOrder = true // testing for saddles takes dozens of reads
	return c.fingerprinted(o, p.N(), p.Shape().D, p.Shape().S, c.Solver, func(h hash.Hash) { h.Write(s.ID()) })
}

// describe sets the model of a run, in canonical form, and its curvature times extent.
func (r *streamRun) describe(p *streaming.Problem, loss framework.Loss) {
	shape, x := p.Shape(), r.Result.Point
	f := sheet.New(shape.D, shape.Latent, shape.S)
	f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	r.model = &Model{Loss: loss}
	r.model.fromSheet(f)
	var curvature float64
	if r.Cost != nil {
		var tau, weights []float64
		d := shape.Latent
		for at := 0; at < len(r.Cost.Sample); at += 1 + d {
			weights = append(weights, r.Cost.Sample[at])
			tau = append(tau, r.Cost.Sample[at+1:at+1+d]...)
		}
		curvature = r.model.CurvatureExtent(tau, weights)
		sheet.Canonicalize(f, likeTau(r.Cost, d), nil)
	}
	r.finding = newFinding(r.Result.Cost, curvature, p.N(), shape.D, shape.Latent)
	r.model.fromSheet(f)
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
func (c Config) streamMeta(p *streaming.Problem, r *streamRun, notes []string) Meta {
	var kkt *KKT
	if r.Norms != nil {
		n := float64(p.N())
		kkt = &KKT{C: r.Norms.Lengths[BlockC] / n, Q: r.Norms.Lengths[BlockQ] / n, Theta: r.Norms.Lengths[BlockTheta] / n, Tau: r.Norms.Lengths[BlockTau] / n}
	}
	return c.meta(p.Shape(), p.N(), p.Weight(), p.Penalty(nil, r.Result.Point[BlockTheta]), c.Solver, r.Result, kkt, notes)
}
