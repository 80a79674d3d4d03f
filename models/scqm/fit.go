package scqm

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
	"github.com/scqm/scqm/solvers"
)

// Learn fits a model to the data. Like framework.Solve, it returns the best
// model so far beside the error of a run that failed, and no error where the
// run was cancelled or out of budget: see Meta.Status. A time limit counts from
// the call of Learn.
//
// Data whose size is beyond 2^100 or below 2^-100 are fitted in other units
// where the loss is a [framework.Rescaler]. Rows that occur several times are
// fitted once, with their weights added up. An iteration costs one to a few
// evaluations, of 2nDm operations and the loss of n rows each, and for
// [solvers.Newton] nP^2 and P^3 more, P = D(1+m) + qs. Where no solver is named, 2^23
// numbers and more are fitted as by [LearnFrom] under losses that this suits.
func Learn(ctx context.Context, x Data, c Config) (*Fit, error) {
	c.Options = c.Options.Begun()
	x.Missing = c.IgnoreMissing
	if err := c.validate(x); err != nil {
		return nil, err
	}
	if err := x.ValidateSpread(); err != nil {
		return nil, err
	}
	if sumsBlocks(c.Solver) || c.streams(x) {
		return learnAsStream(ctx, x, c)
	}
	r := request{data: x.ObservedOnly(), loss: c.Loss, config: &c}
	defer r.release()
	back, err := r.reduce()
	if err != nil {
		return nil, err
	}
	var out results
	if out.failure = r.chooseRidge(ctx); out.failure == nil {
		out.fit, out.failure = r.fit(ctx)
	}
	back(ctx, &out)
	out.fit.explain(x)
	return out.fit, out.failure
}

// fit fits a model to the data as they are.
func (r *request) fit(ctx context.Context) (*Fit, error) {
	c, x, notes := *r.config, r.data, r.notes
	held, err := reserveFit(x, c, r.columns.fitted)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	loss, err := c.rowLoss(x)
	if err != nil {
		return nil, err
	}
	p, err := NewProblem(ctx, x, loss, c.Latent, r.columns.fitted, c.Threads)
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
	work, err := reserveSolver(x, c, r.columns.fitted, solver)
	if err != nil {
		return nil, err
	}
	defer work.Release()
	_, p.published = solver.(solvers.RGD)
	p.together = (*Problem).reassignTogether
	starts, err := p.newStarts(c)
	if err != nil {
		return nil, err
	}
	limits := c.options(x, solver)
	limits.FirstOrder = limits.FirstOrder || p.published
	p.limits = limits
	run, note, failure := p.minimizeAll(ctx, starts, solver, r.axes.first(limits))
	failure = p.attribute(failure, starts, run)
	if r.axes != nil && run != nil && failure == nil {
		p, run, failure = r.widen(ctx, p, run, solver, limits)
	}
	if note != "" {
		notes = append(notes, note)
	}
	if run == nil {
		return nil, fitError(failure, true)
	}
	fit := &Fit{Run: run, Model: p.model(run.Point)}
	fit.Model.Loss = c.Loss
	fit.Model.Meta = p.meta(c, solver, run, notes)
	r.axes.tell(&fit.Model.Meta)
	fit.Model.Meta.judgeCurvature(fit.Model.CurvatureExtent(fit.Model.Tau, x.Weights))
	fit.Model.Meta.Missing = p.describeMissing(c, fit.Model, run.Point)
	return fit, fitError(failure, false)
}

// setRidge turns the scale-free ridge into Lambda.
func (p *Problem) setRidge(ridge float64, flat *placed) error {
	if ridge == 0 || p.Shape().S == 0 {
		return nil
	}
	cost, err := p.flatCost(flat)
	if err != nil {
		return err
	}
	if math.IsNaN(cost) || math.IsInf(cost, 0) {
		if fault := p.FindLossError(flat.x); fault != nil {
			return fault
		}
	}
	return p.scaleRidge(ridge, cost, flat.spread)
}

// scaleRidge sets Lambda from the cost of the flat start and the mean squared
// distance of the rows from their mean. No start has a larger penalty than the flat
// one has cost.
func (p *Problem) scaleRidge(ridge, flat, spread float64) error {
	p.Lambda, p.MaxPenalty = ridge*flat/p.Data().TotalWeight()*spread, flat
	if math.IsInf(p.Lambda, 0) || math.IsNaN(p.Lambda) {
		return fmt.Errorf("scqm: the ridge overflows at the scale of the data; rescale them: %w", ErrInput)
	}
	return nil
}

// model turns a point into a model in canonical form.
func (p *Problem) model(x framework.Point) *Model {
	f := p.NewSheet()
	f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	m := &Model{Loss: p.Loss(), Tau: append([]float64(nil), x[BlockTau]...)}
	sheet.Canonicalize(f, m.Tau, p.Data().Weights)
	m.fromSheet(f)
	return m
}

// ResidualNorms returns the Euclidean norms of the residuals of the best flat
// sheet of dimension d, from which scales of losses are chosen. Where entries are
// missing these are the sizes of the residuals of the others, entry by entry.
func ResidualNorms(x Data, d int) ([]float64, error) {
	if err := x.Validate(); err != nil {
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

// reserveFit holds what a fit takes before its solver: the problem, the
// principal components and the starts.
func reserveFit(x Data, c Config, s int) (*memory.Reservation, error) {
	f := newFootprint(x, c.Loss, c.Latent, s, c.Threads)
	numbers := f.problem() + f.components() + f.starts(c.Inits)
	if x.Missing {
		numbers += f.n * f.D // the rows completed
	}
	return f.reserve("fit", x, numbers)
}

// reserveSolver holds what a solver takes beside that.
func reserveSolver(x Data, c Config, s int, solver framework.Solver) (*memory.Reservation, error) {
	f := newFootprint(x, c.Loss, c.Latent, s, c.Threads)
	numbers := f.solver(solver) + f.probe()
	if f.keepsResiduals(solver) {
		numbers += f.residuals()
	}
	if c.Options.Checkpoint != nil {
		numbers += 3 * numbers // the state encoded, in a buffer that grows
	}
	return f.reserve("fit with the solver "+solver.Name(), x, numbers)
}
