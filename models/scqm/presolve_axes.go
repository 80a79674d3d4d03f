package scqm

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// widenings bounds how often the span of the rows is widened, and nearly is the stationarity from which on a fit is examined.
const (
	widenings = 20
	nearly    = 1e-2
)

// widenAxes takes a fit under a loss r'Mr into the span of the rows, from which [request.widen] widens it.
type widenAxes struct{}

func (widenAxes) apply(r *request) (undo, error) {
	form, quadratic := r.loss.(framework.Quadratic)
	if r.config == nil || !quadratic || !axesPay(r.data.N, r.data.D) || !r.config.mayWiden() {
		return nil, nil
	}
	if dense.IsTridiagonal(form.Matrix(), r.data.D) {
		return nil, nil // no rotation is needed
	}
	m := factored(form, r.data.D)
	if m == nil {
		return nil, nil
	}
	foot := newFootprint(r.data, r.loss, r.config.Latent, r.columns.fitted, r.config.Threads)
	if err := r.reserve(reserveRotation(r.data, foot)); err != nil {
		return nil, err
	}
	a := &wideningAxes{FormAxes: rows.NewFormAxes(r.data, m), m: m, of: r.loss}
	c, plain, weights := *r.config, r.loss, r.data.Weights
	r.data, c.Loss = a.coordinates()
	r.axes, r.loss, r.config = a, c.Loss, &c
	return func(_ context.Context, out *results) {
		if out.fit != nil {
			out.fit.leaveAxes(a, plain, weights)
		}
	}, nil
}

// factored returns M with its Cholesky factor, nil where it has none to working precision.
func factored(form framework.Quadratic, n int) *dense.Positive {
	if kept, ok := form.(interface{ Factored() *dense.Positive }); ok && kept.Factored() != nil {
		return kept.Factored()
	}
	if m, definite := dense.NewPositive(form.Matrix(), n); definite {
		return m
	}
	return nil
}

// axesPay compares what the first axes take, products of rows with M and with each other, with what it takes
// to make M tridiagonal beyond its Cholesky factor: both for some more axes than rows.
func axesPay(n, D int) bool {
	k := n + furtherAxes
	return 2*k*D+8*k*k <= D*D
}

// furtherAxes is about how many are added to those of the rows.
const furtherAxes = 32

// mayWiden reports whether a fit is one run, not judged and fitted again, without a stored state and with a tolerance, by a solver that stays in the span of the rows
// where the loss is a function of |r|.
func (c *Config) mayWiden() bool {
	if c.ruled() || c.Inits > 1 || c.Ridge == AutoRidge || c.Options.Checkpoint != nil || c.Options.MaxEvaluations > 0 || c.Options.Tolerance < 0 {
		return false
	}
	if c.Solver == nil {
		return true
	}
	s, ok := c.Solver.(framework.Equivariant)
	return ok && s.Equivariant()
}

// widen goes on with a run in more and more axes, until it is stationary in all. What is no matter of first order is examined where it is
// nearly.
func (r *request) widen(ctx context.Context, p *Problem, run *framework.Result, solver framework.Solver, o framework.Options) (*Problem, *framework.Result, error) {
	examined, tolerance := o.FirstOrder, o.Tolerance
	if tolerance == 0 {
		tolerance = framework.DefaultTolerance
	}
	for range widenings {
		var err error
		if run.Stationarity, err = r.axes.gradient(p, run.Point); err != nil {
			return p, run, err
		}
		worst := slices.Max(run.Stationarity)
		left := o
		left.MaxIterations -= run.Iterations
		switch {
		case run.Status != framework.Converged && run.Status != framework.Stalled,
			worst <= tolerance && examined, o.MaxIterations >= 0 && left.MaxIterations <= 0:
			p.endWidened(run, tolerance, framework.MaxIterations)
			return p, run, nil
		}
		if p, run.Point, err = r.axes.widen(p, run.Point); err != nil {
			return p, run, err
		}
		examined = worst <= nearly
		left.FirstOrder = o.FirstOrder || !examined
		next, failure := framework.Solve(ctx, p, run.Point, solver, left)
		if next == nil || failure != nil {
			return p, run, failure
		}
		run = goneOn(run, next)
	}
	p.endWidened(run, tolerance, framework.Stalled)
	return p, run, nil
}

// endWidened says how a run ended that has converged in the axes: as it did, where it is stationary in all of them, else as told.
func (p *Problem) endWidened(run *framework.Result, tolerance float64, otherwise framework.Status) {
	if run.Status != framework.Converged {
		return
	}
	k := floats.MaxIdx(run.Stationarity)
	residual := fmt.Sprintf("residual %.2g in block %s", run.Stationarity[k], p.Blocks()[k].Name)
	if run.Stationarity[k] <= tolerance {
		run.Message = fmt.Sprintf("first-order stationary: %s, within the tolerance %.2g", residual, tolerance)
		return
	}
	run.Status = otherwise
	run.Message = fmt.Sprintf("not stationary after %d iterations: %s, above the tolerance %.2g", run.Iterations, residual, tolerance)
}

// goneOn joins a run and the one that went on with it.
func goneOn(run, next *framework.Result) *framework.Result {
	for _, record := range next.History[1:] {
		record.Iteration += run.Iterations
		record.Passes += run.Counts.Passes
		run.History = append(run.History, record)
	}
	next.History = run.History
	next.Iterations += run.Iterations
	next.Counts.Evaluations += run.Counts.Evaluations
	next.Counts.Passes += run.Counts.Passes
	next.Counts.Hessians += run.Counts.Hessians
	return next
}

// leaveAxes takes a fit to the rows as they are.
func (f *Fit) leaveAxes(a *wideningAxes, loss framework.Loss, weights []float64) {
	m := f.Model
	inside := m.sheet()
	_, D := a.Dims()
	whole := sheet.New(D, inside.Latent, inside.S)
	copy(whole.Theta, inside.Theta)
	a.ExpandPoint(whole.C, inside.C)
	a.ExpandAxes(whole.QT, inside.QT)
	sheet.Canonicalize(whole, m.Tau, weights)
	m.fromSheet(whole)
	m.Loss, m.Meta.Loss, m.Meta.D = loss, describeLoss(loss), D
	f.Run.Point = expandPoint(a, f.Run.Point, inside.M)
}
