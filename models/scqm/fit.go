package scqm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/planes"
	"github.com/scqm/scqm/solvers"
)

// admit checks rows and settings, and starts to measure the time of a fit.
func (c Config) admit(x Data) (Data, Config, error) {
	c.Options = c.Options.Begun()
	x.Missing = c.IgnoreMissing
	if err := c.validate(x); err != nil {
		return x, c, err
	}
	if err := x.ValidateSpread(); err != nil {
		return x, c, err
	}
	var err error
	c.Loss, err = roundedFor(c.Loss, x)
	return x, c, err
}

// learnInMemory does what [Learn] does without streaming, and without a description of the fit.
func learnInMemory(ctx context.Context, x Data, c Config) (*Fit, error) {
	x, c, err := c.admit(x)
	if err != nil {
		return nil, err
	}
	return fitRows(ctx, x, c)
}

// fitRows fits a model to rows in memory, which admit must have checked.
func fitRows(ctx context.Context, x Data, c Config) (*Fit, error) {
	r := request{data: x.ObservedOnly(), loss: c.Loss, config: &c}
	defer r.release()
	back, err := r.reduce()
	if err != nil {
		return nil, err
	}
	var fit *Fit
	failure := r.screen(ctx)
	if failure == nil {
		failure = r.chooseRidge(ctx, learnInMemory)
	}
	if failure == nil {
		fit, failure = r.fitScreened(ctx)
	}
	return fit, back(ctx, fit, failure)
}

// screen tests the rows of a request for curvature and searches start planes. If the number of directions is
// estimated, screen sets it.
func (r *request) screen(ctx context.Context) error {
	c := r.config
	_, published := c.Solver.(solvers.RGD)
	if published || r.columns == 0 {
		return nil
	}
	given := planes.Sample(mostlyComplete(r.data))
	sample, err := completed(ctx, given, c.Latent, c.Loss)
	if err != nil {
		return err
	}
	if r.screening, err = newScreening(ctx, given, sample, c.Latent, r.columns, c.Seed); err != nil {
		return err
	}
	r.screening.learn = learnInMemory
	if !c.ruled() {
		return nil
	}
	r.columns = r.screening.columns(r.columns)
	if note := c.overfits(r.data, r.columns); note != "" {
		r.notes = append(r.notes, note)
	}
	return nil
}

// mostlyComplete returns the rows without missing entries if they are at least half of all rows. Imputed rows would
// show curvature in the directions of the imputation errors.
func mostlyComplete(x Data) Data {
	var whole []int
	for i := range x.N {
		if x.Missing && !rows.Incomplete(x.Row(i)) {
			whole = append(whole, i)
		}
	}
	if len(whole) == 0 || 2*len(whole) < x.N {
		return x
	}
	y := x.Select(whole)
	y.Missing = false
	return y
}

// completed returns the rows with their missing entries imputed.
func completed(ctx context.Context, x Data, d int, loss framework.Loss) (Data, error) {
	whole, err := rows.Complete(ctx, x, d, 1)
	if err == nil && forWrongEntries(loss) {
		whole = rows.DrawnIn(whole, drawnTo)
	}
	whole.Missing = false
	return whole, err
}

// fitScreened fits a model. It fits again if the evidence in the rows supports less curvature.
func (r *request) fitScreened(ctx context.Context) (*Fit, error) {
	return fitScreened(ctx, r.screening, *r.config, r.data.TotalWeight, &r.columns, func(c Config) (*Fit, error) {
		by := *r
		by.config = &c
		return by.fit(ctx)
	})
}

// fit fits a model to the rows of the request, which reduce has simplified.
func (r *request) fit(ctx context.Context) (*Fit, error) {
	c, x, notes := *r.config, r.data, r.notes
	held, err := reserveFit(x, c, r.columns)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	loss, err := c.rowLoss(x)
	if err != nil {
		return nil, err
	}
	p, err := NewProblem(ctx, x, loss, c.Latent, r.columns, c.Threads)
	if err != nil {
		return nil, err
	}
	solver := c.Solver
	if solver == nil {
		solver = solvers.Auto(p)
	}
	if err := p.servedBy(solver); err != nil {
		return nil, err
	}
	work, err := reserveSolver(x, c, r.columns, solver)
	if err != nil {
		return nil, err
	}
	defer work.Release()
	_, p.published = solver.(solvers.RGD)
	starts, err := p.newStarts(c, r.screening)
	if err != nil {
		return nil, err
	}
	limits := c.options(x, solver)
	limits.FirstOrder = limits.FirstOrder || p.published
	if err := p.settlePrior(ctx, starts, solver, limits); err != nil {
		return nil, fitError(p.attribute(err, starts, nil), true)
	}
	if err := r.startRobustly(ctx, starts, p.published); err != nil {
		return nil, err
	}
	run, note, failure := p.minimizeAll(ctx, starts, solver, limits)
	failure = p.attribute(failure, starts, run)
	if note != "" {
		notes = append(notes, note)
	}
	if run == nil {
		return nil, fitError(failure, true)
	}
	fit := &Fit{Run: run, Model: p.model(run.Point)}
	fit.Model.Loss = c.Loss
	fit.Model.Meta = p.meta(c, solver, run, notes)
	fit.Model.Meta.judgeCurvature(fit.Model.CurvatureExtent(fit.Model.Tau, x.Weights))
	fit.Model.Meta.Missing = p.describeMissing(c, fit.Model, run.Point)
	return fit, fitError(failure, false)
}

// startRobustly replaces the first start by a robust fit if the loss redescends.
func (r *request) startRobustly(ctx context.Context, s *starts, published bool) error {
	if published || r.data.Missing || !redescends(r.config.Loss, r.data.D, rows.MaxNorm(r.data.X)) {
		return nil
	}
	var err error
	if s.settled = r.start; r.start == nil {
		s.settled, err = r.robustStart(ctx)
	}
	if s.enough > 0 {
		s.count = 1
	}
	return err
}

// robustStart returns the fit by l2. If the loss has a core (see [losses.Core]), it returns the fit by the core
// started from the l2 fit.
//
// Source: V. J. Yohai, High breakdown-point and high efficiency robust estimates for regression, Ann. Statist. 15
// (1987).
func (r *request) robustStart(ctx context.Context) (framework.Point, error) {
	list := []framework.Loss{losses.L2()}
	if core, ok := losses.Core(r.config.Loss); ok {
		list = append(list, core)
	}
	c, by := *r.config, *r
	c.Solver, c.Options.Observers, c.Options.Checkpoint = nil, nil, nil
	by.config, by.notes = &c, slices.Clip(r.notes)
	for _, c.Loss = range list {
		by.loss = c.Loss
		fit, err := by.fit(ctx)
		if fit == nil {
			return nil, err
		}
		by.start = fit.Run.Point
	}
	return by.start, nil
}

// ResidualNorms returns the Euclidean norms of the residuals of the best flat sheet of dimension d. They serve to
// choose scales of losses. If entries are missing, it returns the absolute residuals of the other entries instead.
func ResidualNorms(x Data, d int) ([]float64, error) {
	if err := x.Validate(); err != nil {
		return nil, err
	}
	if d < 1 || d > x.D {
		return nil, fmt.Errorf("scqm: latent dimension %d does not fit rows of length %d; want 1 to %d: %w", d, x.D, x.D, ErrInput)
	}
	held, err := reserve("principal components", x, newFootprint(x, nil, d, 0, 0).components()+float64(x.N+2*x.D))
	if err != nil {
		return nil, err
	}
	defer held.Release()
	whole, err := rows.Complete(context.Background(), x, d, par.Threads(0))
	if err != nil {
		return nil, err
	}
	pc, err := rows.PrincipalComponents(context.Background(), whole, d, par.Threads(0))
	if err != nil {
		return nil, err
	}
	norms, sizes, r := make([]float64, x.N), []float64(nil), make([]float64, x.D)
	for i := range norms {
		floats.SubTo(r, whole.Row(i), pc.Mean)
		for j := range d {
			axis := pc.Axes[j*x.D : (j+1)*x.D]
			floats.AddScaled(r, -floats.Dot(axis, r), axis)
		}
		norms[i] = floats.Norm(r, 2)
		for j, v := range x.Row(i) {
			if x.Missing && v == v {
				sizes = append(sizes, math.Abs(r[j]))
			}
		}
	}
	if x.Missing {
		return sizes, nil
	}
	return norms, nil
}

// reserveFit reserves the memory of a fit except for its solver: the problem, the principal components and the
// starts.
func reserveFit(x Data, c Config, s int) (*memory.Reservation, error) {
	f := newFootprint(x, c.Loss, c.Latent, s, c.Threads)
	numbers := f.problem() + f.components() + f.starts()
	if x.Missing {
		numbers += f.residuals // the rows completed
	}
	return reserveOr("fit", x, numbers, fitsLess)
}

// fitsLess is the remedy for fits that need too much memory.
const fitsLess = "take the solver streaming, or fewer rows or columns"

// reserveSolver reserves the memory of the solver beyond that of reserveFit.
func reserveSolver(x Data, c Config, s int, solver framework.Solver) (*memory.Reservation, error) {
	f := newFootprint(x, c.Loss, c.Latent, s, c.Threads)
	numbers := f.solver(solver)
	if c.Options.Checkpoint != nil {
		numbers += 3 * numbers // the state encoded, in a buffer that grows
	}
	return reserveOr("fit with the solver "+solver.Name(), x, numbers, fitsLess)
}
