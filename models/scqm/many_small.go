package scqm

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/solvers"
)

// graphSolver fits smooth losses from a graph, smallSolver from principal components, bentSolver where sheets
// fold: then there are many minima, and it does what Learn does.
var (
	graphSolver = solvers.Newton{Pairs: true, Straight: true, Damping: graphDamping}
	smallSolver = solvers.Newton{Pairs: true, Straight: true}
	bentSolver  = solvers.Newton{Straight: true, StraightAfter: 10}
)

const (
	// smallIterations bounds the iterations of a small fit; beyond, Learn does it.
	smallIterations = 300
	// smallDecrease is the relative decrease of the cost from which on the first-order
	// residual is looked at: what the next iteration gains is then about the square.
	smallDecrease = 1e-8
)

// kinked reports whether a loss has kinks, or curvature without bounds.
func kinked(l framework.Loss) bool {
	_, ok := l.(framework.Smoother)
	return ok
}

// plain reports whether there are few rows, in a unit that needs no change, all of
// them with weight, under settings that leave the way open.
func plain(c Config, x Data) bool {
	_, distant := c.Loss.(framework.HighLatency)
	o := c.Options
	switch {
	case c.IgnoreMissing, c.Inits > 1, c.Solver != nil, c.Ridge == AutoRidge, c.ThetaScale != 0,
		o.MaxIterations != 0, o.TimeLimit != 0, o.Checkpoint != nil, len(o.Observers) > 0,
		distant, x.D > smallColumns, x.N <= x.D, x.N > smallRows:
		return false
	}
	return !slices.Contains(x.Weights, 0) && rows.WorkingUnit(x) == 1
}

// smallRows is the number of rows up to which the second derivatives of all rows are a
// matter of microseconds.
const smallRows = 512

// certified fits by Newton's method until the first-order residual is within the
// tolerance, from a graph and, where that bends by more than its extent, from principal
// components. It returns nil where that does not come about, or where the point is no
// end for Learn: where rows are nearer to, or better at, another place of the sheet, or
// the curvature still grows.
func (w *smallFits) certified(c Config, x Data) (*Fit, error) {
	for _, f := range w.fitters {
		before := f.evaluator.Counts().Evaluations
		f.problem.SetData(x)
		if err := f.begin(); errors.Is(err, errBent) {
			continue
		} else if err != nil {
			return nil, errorUnlessSmall(err)
		}
		if !f.seed.spans() {
			return nil, nil
		}
		run := &framework.Result{Solver: f.solver.Name(), Stationarity: make([]float64, objective.NumBlocks)}
		kkt, err := f.descend(run, cmp.Or(c.Options.Tolerance, framework.DefaultTolerance))
		if err = errorUnlessSmall(err); err != nil {
			return nil, err
		}
		if kkt == nil {
			continue
		}
		at, _ := f.state.Iterate()
		m := f.problem.model(at)
		extent := m.CurvatureExtent(m.Tau, x.Weights)
		more, err := f.problem.leaves(at, extent)
		if err != nil {
			return nil, err
		}
		if !more {
			run.Counts.Evaluations = f.evaluator.Counts().Evaluations - before
			return w.converged(c, f, run, kkt, m, extent), nil
		}
	}
	return nil, nil
}

// converged makes a fit of a run of a Fitter that has ended within the tolerance.
func (w *smallFits) converged(c Config, f *Fitter, run *framework.Result, kkt *KKT, m *Model, extent float64) *Fit {
	at, cost := f.state.Iterate()
	run.Point, run.Cost, run.Status = at.Clone(), cost, framework.Converged
	worst := slices.Max(run.Stationarity)
	run.Message = fmt.Sprintf("first-order stationary: residual %.2g in block %s, within the tolerance %.2g",
		worst, f.problem.Blocks()[slices.Index(run.Stationarity, worst)].Name, cmp.Or(c.Options.Tolerance, framework.DefaultTolerance))
	return w.deliver(c, f, run, kkt, m, extent)
}

// errorUnlessSmall leaves failures to Learn, which tells more about them, but not that
// of a context that is done.
func errorUnlessSmall(err error) error {
	if err == nil || errors.Is(err, framework.ErrNonFinite) || errors.Is(err, ErrInput) {
		return nil
	}
	return err
}

// descend takes steps until the first-order residual is within the tolerance, and
// returns nil where it does not come to that, or a graph bends by more than its extent.
func (f *Fitter) descend(run *framework.Result, tolerance float64) (*KKT, error) {
	for run.Iterations < smallIterations {
		_, before := f.state.Iterate()
		err := f.solver.Step(f.evaluator, f.state)
		stuck := errors.Is(err, framework.ErrNoProgress)
		if err != nil && !stuck {
			return nil, err
		}
		run.Iterations++
		x, after := f.state.Iterate()
		if f.graph != nil && f.graph.bends(x[BlockTheta]) {
			return nil, nil
		}
		if !stuck && before-after > smallDecrease*math.Abs(before) {
			continue
		}
		k, err := f.problem.FirstOrder(run.Stationarity, x)
		if err != nil {
			return nil, err
		}
		if slices.Max(run.Stationarity) <= tolerance {
			return (*KKT)(&k), nil
		}
		if stuck {
			break
		}
	}
	return nil, nil
}

// leaves reports whether Learn would go on from a stationary point, of a sheet with a
// curvature times extent. A bound that costs next to nothing answers that where the sheet
// bends gently: with A the root of sum_k |A_k|_F^2, a row at the distance r < 1/2A has
// no nearer point (see [Model.ProjectAll]), and no curvature of the sheet is above A.
func (p *Problem) leaves(x framework.Point, extent float64) (bool, error) {
	if p.Shape().S == 0 || floats.Norm(x[BlockTheta], math.Inf(1)) == 0 {
		return false, nil
	}
	curvature := math.Inf(1)
	if p.Lambda > 0 {
		curvature = math.Sqrt(p.Penalty(nil, x[BlockTheta]) / p.Lambda)
	}
	if !p.nearestAlready(x, curvature) {
		other := x.Clone()
		if moved, _, err := p.Objective.Reassign(other); err != nil || moved && p.worthMoving(x, other) {
			return true, err
		}
	}
	if curvature*math.Sqrt(spread(*p.Data(), x[BlockC])) <= suspectCurvature {
		return false, nil
	}
	refutation, err := p.Refute(x)
	return refutation != "", err
}

// worthMoving reports whether the cost is lower at another point by enough for more iterations.
func (p *Problem) worthMoving(from, to framework.Point) bool {
	before, err := p.Evaluate(nil, from)
	if err != nil {
		return true
	}
	after, err := p.Evaluate(nil, to)
	return err != nil || framework.WorthReassigning(before, after)
}

// nearestAlready reports whether every row is within half of the radius of curvature,
// under a loss for which this tells.
func (p *Problem) nearestAlready(x framework.Point, curvature float64) bool {
	if _, radial := p.PlainLoss().(framework.Radial); !radial {
		return false
	}
	most, err := p.LargestResidual(x)
	return err == nil && 2*curvature*most < 1
}

// rough fits as a Fitter does.
func (w *smallFits) rough(c Config, x Data) (*Fit, error) {
	f := w.fitters[0]
	before := f.evaluator.Counts().Evaluations
	f.problem.SetData(x)
	if err := f.begin(); err != nil {
		return nil, errorUnlessSmall(err)
	}
	out, err := f.iterate()
	if err != nil {
		return nil, errorUnlessSmall(err)
	}
	at, cost := f.state.Iterate()
	run := &framework.Result{
		Solver: f.solver.Name(), Stationarity: make([]float64, objective.NumBlocks), Iterations: out.Iterations,
		Point: at.Clone(), Cost: cost, Status: framework.Stalled,
	}
	k, err := f.problem.FirstOrder(run.Stationarity, at)
	if err != nil {
		return nil, err
	}
	worst := slices.Max(run.Stationarity)
	if worst <= cmp.Or(c.Options.Tolerance, framework.DefaultTolerance) {
		run.Status = framework.Converged
	}
	run.Message = fmt.Sprintf("ended roughly, as asked: first-order residual %.2g", worst)
	run.Counts.Evaluations = f.evaluator.Counts().Evaluations - before
	m := f.problem.model(at)
	fit := w.deliver(c, f, run, (*KKT)(&k), m, m.CurvatureExtent(m.Tau, x.Weights))
	fit.Model.Meta.Warnings = slices.DeleteFunc(fit.Model.Meta.Warnings, func(s string) bool { return s == run.Message })
	return fit, nil
}

// deliver makes a fit of a run that has ended at a model.
func (w *smallFits) deliver(c Config, f *Fitter, run *framework.Result, kkt *KKT, m *Model, extent float64) *Fit {
	m.Loss = c.Loss
	m.Meta = f.problem.describe(c, f.solver, run, kkt, w.notes)
	m.Meta.judgeCurvature(extent)
	if s := w.columns.requested; s != m.Curvature {
		m.fromSheet(m.sheet().Pad(s))
		m.Meta.Curvature = s
	}
	fit := &Fit{Model: m, Run: run}
	fit.explain(*f.problem.Data())
	return fit
}

// smallFits are the fits of one goroutine, which use the same memory where their
// shapes are the same.
type smallFits struct {
	fitters []*Fitter // the first one, and those that follow it where it fails
	n, D    int
	columns curvatures
	notes   []string
	refused bool // no Fitter takes this shape
}
