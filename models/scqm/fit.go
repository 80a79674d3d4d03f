package scqm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/solvers"
	"gonum.org/v1/gonum/floats"
)

// Config says how to fit a model. Latent and Loss are required; the zero value
// of every other field is the default.
type Config struct {
	// Latent is d, the dimension of the sheet, 1 <= d <= D.
	Latent int
	// Curvature is s, the number of directions in which the sheet may bend; 0
	// stands for min(d(d+1)/2, D-d). More than that many cannot be used: a
	// larger s is fitted with so many, and V is completed orthonormally.
	Curvature int
	// Linear keeps Theta = 0: the sheet is flat.
	Linear bool
	// Loss scores residual rows.
	Loss framework.Loss
	// Solver is the algorithm; nil chooses one.
	Solver framework.Solver
	// Ridge is the curvature penalty in a unit free of scale: Lambda of the
	// [Problem] is Ridge * (F_lin / n) * h2, with F_lin the objective of the
	// principal component start and h2 the mean squared distance of the rows
	// from their mean.
	Ridge float64
	// ThetaScale is the standard deviation of a random normal start of Theta
	// in units of 1/h; 0 starts from Theta = 0.
	ThetaScale float64
	// Seed makes random choices reproducible.
	Seed uint64
	// Threads bounds the goroutines; below 1 stands for all processors. The
	// result does not depend on it.
	Threads int
	// Options are the limits of the run. Two defaults differ from those of the
	// framework: MaxIterations is 10000, because blockwise descent crosses
	// plateaus slowly, and MinRelativeDecrease 1e-10.
	Options framework.Options
}

// Defaults of [Config].Options.
const (
	DefaultMaxIterations       = 10000
	DefaultMinRelativeDecrease = 1e-10
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
func Learn(ctx context.Context, x Data, c Config) (*Fit, error) {
	if err := c.validate(x); err != nil {
		return nil, err
	}
	s, notes := c.curvature(x.D)
	p, err := NewProblem(ctx, x, c.Loss, c.Latent, s.fitted, c.Threads)
	if err != nil {
		return nil, err
	}
	start, spread, err := p.start(c)
	if err != nil {
		return nil, err
	}
	if err := p.setRidge(c.Ridge, start, spread); err != nil {
		return nil, err
	}
	solver := c.Solver
	if solver == nil {
		solver = solvers.Auto(p)
	}
	run, failure := framework.Solve(ctx, p, start, solver, c.options(x, solver))
	if run == nil && errors.Is(failure, framework.ErrNonFinite) {
		return nil, fmt.Errorf("scqm: the loss of the data overflows at their scale; rescale them: %w", ErrInput)
	}
	if run == nil {
		return nil, fmt.Errorf("scqm: fit: %w", failure)
	}
	fit := &Fit{Run: run, Model: p.model(run.Point, s.requested)}
	fit.Model.Meta = p.meta(c, solver, run, fit.Model, s.fitted, notes)
	if failure != nil {
		return fit, fmt.Errorf("scqm: fit: %w", failure)
	}
	return fit, p.projectUnweighted(ctx, fit)
}

func (c Config) validate(x Data) error {
	if err := x.validate(); err != nil {
		return err
	}
	switch {
	case c.Loss == nil:
		return fmt.Errorf("scqm: no loss given: %w", ErrInput)
	case c.Latent < 1 || c.Latent > x.D:
		return fmt.Errorf("scqm: latent dimension %d does not fit rows of length %d; want 1 to %d: %w", c.Latent, x.D, x.D, ErrInput)
	case c.Curvature < 0:
		return fmt.Errorf("scqm: curvature dimension %d is negative: %w", c.Curvature, ErrInput)
	case !(c.Ridge >= 0) || math.IsInf(c.Ridge, 0):
		return fmt.Errorf("scqm: ridge is %v, want a finite number of at least 0: %w", c.Ridge, ErrInput)
	case !(c.ThetaScale >= 0) || math.IsInf(c.ThetaScale, 0):
		return fmt.Errorf("scqm: scale of the random start is %v, want a finite number of at least 0: %w", c.ThetaScale, ErrInput)
	}
	return nil
}

func (c Config) options(x Data, solver framework.Solver) framework.Options {
	o := c.Options
	if o.MaxIterations == 0 {
		o.MaxIterations = DefaultMaxIterations
	}
	if o.MinRelativeDecrease == 0 {
		o.MinRelativeDecrease = DefaultMinRelativeDecrease
	}
	if o.Checkpoint != nil && o.Checkpoint.Fingerprint == "" {
		checkpoint := *o.Checkpoint
		checkpoint.Fingerprint = fingerprint(x, c, solver)
		o.Checkpoint = &checkpoint
	}
	return o
}

// curvatures are the number of curvature columns fitted and delivered.
type curvatures struct{ fitted, requested int }

// curvature settles s. V Theta' has rank at most q, so that columns beyond q
// are redundant.
func (c Config) curvature(D int) (curvatures, []string) {
	q, room := vechLen(c.Latent), D-c.Latent
	s := curvatures{fitted: min(q, room), requested: min(q, room)}
	var notes []string
	if c.Curvature > 0 {
		s.requested = min(c.Curvature, room)
		s.fitted = min(s.requested, q)
		if c.Curvature > room {
			notes = append(notes, fmt.Sprintf("s = %d was reduced to D - d = %d", c.Curvature, room))
		}
		if s.requested > q {
			notes = append(notes, fmt.Sprintf("s = %d exceeds d(d+1)/2 = %d: the model class is that of s = %d, and V was completed orthonormally", s.requested, q, q))
		}
	}
	if c.Linear {
		s.fitted = 0
	}
	return s, notes
}

// start returns the principal component start, [U V] the leading directions and
// tau the scores, and the mean squared distance of the rows from their mean.
func (p *Problem) start(c Config) (framework.Point, float64, error) {
	f := p.sheet
	pc, err := principalComponents(p.data, f.m)
	if err != nil {
		return nil, 0, err
	}
	x := framework.NewPoint(p.blocks)
	copy(x[BlockC], pc.mean)
	transpose(x[BlockQ], pc.axes, f.m, f.D)
	diff := make([]float64, f.D)
	var spread, total float64
	for i := range p.data.N {
		floats.SubTo(diff, p.data.Row(i), pc.mean)
		for j := range f.d {
			x[BlockTau][i*f.d+j] = floats.Dot(pc.axes[j*f.D:(j+1)*f.D], diff)
		}
		length, w := floats.Norm(diff, 2), p.data.weight(i)
		spread += w * length * length
		total += w
	}
	spread /= total
	if c.ThetaScale > 0 && spread > 0 {
		rng := rand.New(rand.NewPCG(c.Seed, 0))
		for i := range x[BlockTheta] {
			x[BlockTheta][i] = c.ThetaScale / math.Sqrt(spread) * rng.NormFloat64()
		}
	}
	return x, spread, nil
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
	p.Lambda = ridge * cost / float64(p.data.N) * spread
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
	canonicalize(f, m.Tau)
	m.fromSheet(pad(f, s))
	return m
}

// projectUnweighted gives rows of weight zero, which the fit leaves where they
// started, the coordinates of their projection.
func (p *Problem) projectUnweighted(ctx context.Context, fit *Fit) error {
	if p.data.Weights == nil || fit.Run.Status == framework.Cancelled {
		return nil
	}
	m := fit.Model
	for i, w := range p.data.Weights {
		if w > 0 {
			continue
		}
		tau, err := m.Transform(ctx, Data{N: 1, D: p.data.D, X: p.data.Row(i)}, 1)
		if err != nil {
			return err
		}
		copy(m.Tau[i*m.Latent:], tau)
	}
	return nil
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
	pc, err := principalComponents(x, d)
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
