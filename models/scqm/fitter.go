package scqm

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// Fitter fits models to many small sets of rows of one shape, such as the neighbourhoods of the points of a cloud. It
// gives the results of [Learn] with [solvers.Newton], but reuses its memory. Use a Fitter from one goroutine.
type Fitter struct {
	config    Config
	problem   *Problem
	evaluator *framework.Evaluator
	solver    restartable
	state     framework.State
}

// restartable is a solver that can start a run in the memory of the previous run.
type restartable interface {
	framework.Solver
	Restart(e *framework.Evaluator, s framework.State, x framework.Point) error
}

// Outcome is what a fit of a [Fitter] returns in addition to the model.
type Outcome struct {
	// Objective is the weighted sum of losses, Penalty the ridge penalty of the curvature.
	Objective, Penalty float64
	// Iterations is the number of Newton steps.
	Iterations int
	// Converged reports that the last iteration lowered the cost by at most MinRelativeDecrease, or, for a loss with
	// kinks, that the continuation is complete. Otherwise MaxIterations was reached.
	Converged bool
}

const (
	// defaultFitterIterations is the default of MaxIterations. It is large enough for fits that converge.
	// defaultFitterDecrease is the default of MinRelativeDecrease. It gives six digits of the cost.
	defaultFitterIterations = 1000
	defaultFitterDecrease   = 1e-6
	// firstStageDecrease is the tolerance of the first continuation step of a loss with kinks.
	firstStageDecrease = 1e-3
	// creaseFactor is the continuation factor for losses of which only the second derivative jumps, as for lp with 1
	// < p < 2. Three steps reach a smoothing length of creaseLast times a typical residual, which changes the minimum
	// by less than the tolerance. Ten steps take twice the iterations.
	creaseFactor, creaseLast = 0.03, 1e-3
)

// NewFitter prepares fits of n rows of length D. It uses the fields Latent, Curvature, Linear, Loss, Solver and Ridge
// of c, and of its Options MaxIterations (0: 1000) and MinRelativeDecrease (0: 1e-6). A fit ends with the first
// iteration that lowers the cost by at most the fraction MinRelativeDecrease. For losses with kinks this is the
// tolerance of the last step of a [solvers.Continuation]. Solver may be a [solvers.Newton], or a
// [solvers.Continuation] of one with settings of its own. [AutoCurvature] stands for [FullCurvature]. Fits return an
// error when ctx is done.
func NewFitter(ctx context.Context, n, D int, c Config) (*Fitter, error) {
	if n < 1 || D < 1 {
		return nil, fmt.Errorf("scqm: fitter for %d x %d rows; want at least one of each: %w", n, D, ErrInput)
	}
	zeros := Data{N: n, D: D, X: make([]float64, n*D)}
	if err := c.validate(zeros); err != nil {
		return nil, err
	}
	if c.Options.MaxIterations == 0 {
		c.Options.MaxIterations = defaultFitterIterations
	}
	if c.Options.MinRelativeDecrease == 0 {
		c.Options.MinRelativeDecrease = defaultFitterDecrease
	}
	var err error
	if c.Loss, err = losses.Rounded(c.Loss, D, 1); err != nil {
		return nil, fmt.Errorf("scqm: %w", err)
	}
	solver, err := c.fitterSolver()
	if err != nil {
		return nil, err
	}
	s, _ := c.curvature(zeros)
	p, err := NewProblem(ctx, zeros, c.Loss, c.Latent, s, 1)
	if err != nil {
		return nil, err
	}
	_, kinked := c.Loss.(framework.Smoother)
	if a, ok := solver.(solvers.Continuation); ok && kinked && c.Solver == nil && p.Differentiable() {
		a.Factor, a.Last = creaseFactor, creaseLast
		solver = a
	}
	if _, ok := p.ArrowheadShape(); !ok {
		return nil, fmt.Errorf("scqm: %d rows of length %d are too large for newton: %w", n, D, ErrInput)
	}
	return &Fitter{
		config: c, problem: p, solver: solver,
		evaluator: framework.NewEvaluator(ctx, p),
	}, nil
}

// fitterSolver returns the solver that a Fitter uses.
func (c Config) fitterSolver() (restartable, error) {
	switch s := c.Solver.(type) {
	case nil:
		return solvers.Continuation{
			Inner: solvers.Newton{}, FirstTolerance: firstStageDecrease, LastTolerance: c.Options.MinRelativeDecrease,
		}, nil
	case solvers.Newton:
		return s, nil
	case solvers.Continuation:
		if _, ok := s.Inner.(solvers.Newton); ok {
			return s, nil
		}
	}
	return nil, fmt.Errorf("scqm: many small fits are done by newton, not by %s: %w", c.Solver.Name(), ErrInput)
}

// Fit fits a model to x, which must have the shape of the Fitter, and writes it into dst. It reuses the slices of dst
// that are large enough. The model is not in canonical form. Redundant columns of V are left out, and dst.Curvature
// is the number of columns kept. Meta is not changed.
func (f *Fitter) Fit(dst *Model, x Data) (Outcome, error) {
	p := f.problem
	if x.N != p.Data().N || x.D != p.Data().D {
		return Outcome{}, fmt.Errorf("scqm: fit of %d x %d rows by a fitter for %d x %d: %w", x.N, x.D, p.Data().N, p.Data().D, ErrInput)
	}
	if err := x.Validate(); err != nil {
		return Outcome{}, err
	}
	p.SetData(x)
	if err := f.begin(); err != nil {
		return Outcome{}, fmt.Errorf("scqm: fit: %w", err)
	}
	out, err := f.iterate()
	if err != nil {
		return out, fmt.Errorf("scqm: fit: %w", err)
	}
	best, cost := f.state.Iterate()
	out.Penalty = p.Penalty(nil, best[BlockTheta])
	out.Objective = cost - out.Penalty
	f.deliver(dst, best)
	return out, nil
}

// begin moves the fit to the principal components, and initialises the solver there.
func (f *Fitter) begin() error {
	p := f.problem
	p.Lambda = 0
	x, spread, err := p.flatStart()
	if err != nil {
		return err
	}
	if ridge := f.config.ridge(); ridge > 0 && p.Shape().S > 0 {
		flat, err := p.Evaluate(nil, x) // without a penalty
		if err != nil {
			return err
		}
		if err := p.scaleRidge(ridge, flat, spread); err != nil {
			return err
		}
	}
	p.SolveTheta(x)
	if f.state != nil {
		return f.solver.Restart(f.evaluator, f.state, x)
	}
	state, err := f.solver.Init(f.evaluator, x)
	if err != nil {
		return err
	}
	if _, cost := state.Iterate(); math.IsInf(cost, 0) {
		return fmt.Errorf("%w at the start", framework.ErrNonFinite)
	}
	f.state = state
	return nil
}

// iterate takes steps of the solver until convergence or MaxIterations.
func (f *Fitter) iterate() (out Outcome, err error) {
	o := f.config.Options
	for out.Iterations < o.MaxIterations {
		_, before := f.state.Iterate()
		err := f.solver.Step(f.evaluator, f.state)
		if err != nil && !errors.Is(err, framework.ErrNoProgress) {
			return out, err
		}
		_, after := f.state.Iterate()
		out.Iterations++
		ended := before-after <= o.MinRelativeDecrease*math.Abs(before)
		if s, ok := f.state.(*solvers.ContinuationState); ok && s.Eps > 0 {
			ended = s.Done
		}
		if err != nil || ended {
			out.Converged = true
			break
		}
	}
	return out, nil
}

// deliver writes the model into dst.
func (f *Fitter) deliver(dst *Model, x framework.Point) {
	s := f.problem.Shape()
	dst.D, dst.Latent, dst.Curvature, dst.Loss = s.D, s.Latent, s.S, f.config.Loss
	dst.C = append(dst.C[:0], x[BlockC]...)
	dst.Theta = append(dst.Theta[:0], x[BlockTheta]...)
	dst.Tau = append(dst.Tau[:0], x[BlockTau]...)
	dst.U, dst.V = dst.U[:0], dst.V[:0]
	for i := range s.D {
		row := x[BlockQ][i*s.M : (i+1)*s.M]
		dst.U = append(dst.U, row[:s.Latent]...)
		dst.V = append(dst.V, row[s.Latent:]...)
	}
}
