package scqm

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/solvers"
	"gonum.org/v1/gonum/floats"
)

// Fit is the outcome of fitting a model.
type Fit struct {
	// Model is in canonical form; its Meta describes the fit.
	Model *Model
	// Run is what the solver reports.
	Run *framework.Result
}

// Learn fits a model to the data. Like framework.Solve, it returns the best
// model so far beside the error of a run that failed, and no error where the
// run was cancelled or out of budget: see Meta.Status.
//
// Data whose size is beyond 2^100 or below 2^-100 are fitted in other units
// where the loss is a [framework.Rescaler]. Rows that occur several times are
// fitted once, with their weights added up.
func Learn(ctx context.Context, x Data, c Config) (*Fit, error) {
	if err := c.validate(x); err != nil {
		return nil, err
	}
	m, held, err := merge(x)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	if m != nil {
		return m.learn(ctx, c)
	}
	return learnDistinct(ctx, x, c)
}

// learnDistinct fits a model to rows that are distinct, in a unit that suits
// them.
func learnDistinct(ctx context.Context, x Data, c Config) (*Fit, error) {
	unit := workingUnit(x)
	l, ok := c.Loss.(framework.Rescaler)
	if unit == 1 || !ok {
		return learnAsGiven(ctx, x, c)
	}
	loss, factor := c.Loss, 0.0
	c.Loss, factor = l.Rescale(unit)
	if factor == 0 || math.IsInf(factor, 0) {
		return nil, errOverflow
	}
	held, err := reserveUnits(x)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	fit, err := learnAsGiven(ctx, x.inUnits(unit), c)
	if fit == nil {
		return nil, err
	}
	if !fit.leaveUnits(unit, factor, loss) {
		return nil, errOverflow
	}
	return fit, err
}

// errOverflow says that numbers do not reach as far as the data.
var errOverflow = fmt.Errorf("scqm: the loss of the data overflows or vanishes at their scale; rescale them: %w", ErrInput)

// learnAsGiven fits a model to data in the units they are in.
func learnAsGiven(ctx context.Context, x Data, c Config) (*Fit, error) {
	s, notes := c.curvature(x)
	held, err := reserveFit(x, c, s.fitted)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	p, err := NewProblem(ctx, x, c.Loss, c.Latent, s.fitted, c.Threads)
	if err != nil {
		return nil, err
	}
	solver := c.Solver
	if solver == nil {
		solver = solvers.Auto(p)
	}
	work, err := reserveSolver(x, c, s.fitted, solver)
	if err != nil {
		return nil, err
	}
	defer work.Release()
	_, p.published = solver.(solvers.RGD)
	p.relocating = !p.published
	starts, err := p.newStarts(c)
	if err != nil {
		return nil, err
	}
	run, note, failure := p.minimizeAll(ctx, starts, solver, c.options(x, solver))
	failure = p.blame(failure, starts, run)
	if note != "" {
		notes = append(notes, note)
	}
	fault, ok := failure.(*lossFault)
	switch {
	case run == nil && ok:
		return nil, fault
	case run == nil && errors.Is(failure, framework.ErrNonFinite):
		return nil, errOverflow
	case run == nil:
		return nil, fmt.Errorf("scqm: fit: %w", failure)
	}
	fit := &Fit{Run: run, Model: p.model(run.Point, s.requested)}
	fit.Model.Meta = p.meta(c, solver, run, fit.Model, s.fitted, notes)
	if ok {
		return fit, fault
	}
	if failure != nil {
		return fit, fmt.Errorf("scqm: fit: %w", failure)
	}
	return fit, nil
}

// setRidge turns the scale-free ridge into Lambda.
func (p *Problem) setRidge(ridge float64, start framework.Point, spread float64) error {
	if ridge == 0 || p.sheet.s == 0 {
		return nil
	}
	flat := start.Clone()
	clear(flat[BlockTheta])
	cost, err := p.Evaluate(nil, flat)
	if err != nil {
		return err
	}
	return p.scaleRidge(ridge, cost, spread)
}

// scaleRidge sets Lambda from the cost of the flat start and the mean squared
// distance of the rows from their mean.
func (p *Problem) scaleRidge(ridge, flat, spread float64) error {
	p.Lambda = ridge * flat / p.data.total() * spread
	if math.IsInf(p.Lambda, 0) || math.IsNaN(p.Lambda) {
		return fmt.Errorf("scqm: the ridge overflows at the scale of the data; rescale them: %w", ErrInput)
	}
	return nil
}

// model turns a point into a model in canonical form with s curvature columns.
func (p *Problem) model(x framework.Point, s int) *Model {
	f := newSheet(p.sheet.D, p.sheet.d, p.sheet.s)
	f.load(x[BlockC], x[BlockQ], x[BlockTheta])
	m := &Model{Loss: p.loss, Tau: append([]float64(nil), x[BlockTau]...)}
	canonicalize(f, m.Tau, p.data.Weights)
	m.fromSheet(pad(f, s))
	return m
}

// ResidualNorms returns the Euclidean norms of the residuals of the best flat
// sheet of dimension d, from which scales of losses are chosen.
func ResidualNorms(x Data, d int) ([]float64, error) {
	if err := x.validate(); err != nil {
		return nil, err
	}
	if d < 1 || d > x.D {
		return nil, fmt.Errorf("scqm: latent dimension %d does not fit rows of length %d; want 1 to %d: %w", d, x.D, x.D, ErrInput)
	}
	held, err := reserveComponents(x, d)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	pc, err := principalComponents(context.Background(), x, d, par.Threads(0))
	if err != nil {
		return nil, err
	}
	norms, r := make([]float64, x.N), make([]float64, x.D)
	for i := range norms {
		floats.SubTo(r, x.Row(i), pc.mean)
		for j := range d {
			axis := pc.axes[j*x.D : (j+1)*x.D]
			floats.AddScaled(r, -floats.Dot(axis, r), axis)
		}
		norms[i] = floats.Norm(r, 2)
	}
	return norms, nil
}
