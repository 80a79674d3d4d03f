package scqm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// A fit under a loss r'Mr to rows that span less than R^D. With E = sum_i w_i r_i z_i', which is of the span of
// the rows and Q, and Omega symmetric, Q is stationary where
//
//	M E = -Q Omega.
//
// Rescaling and turning U, and V, is undone by tau and Theta, but for the penalty: Omega is small beside S = sum_i w_i z_i z_i', where
// it holds U and V perpendicular. So the part of Q outside of the span of the rows is small, and is found by few products with M^-1.
// The fit takes place in the span; what ME has outside, and M^-1 of that, again and again, widens it, until nothing
// outside is left to be gained.

const (
	// widenings bounds how often the span is widened, and inverses is the number of times that M^-1 is applied for each.
	widenings, inverses = 20, 2
	// coarse is the tolerance of fits in a span that is to be widened.
	coarse = 1e-3
	// nearly is the stationarity from which on a fit is examined.
	nearly = 1e-2
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

// mayWiden reports whether a fit is one run without a stored state and with a tolerance, by a solver that stays in the span of the rows
// where the loss is a function of |r|.
func (c *Config) mayWiden() bool {
	if c.Inits > 1 || c.Ridge == AutoRidge || c.Options.Checkpoint != nil || c.Options.MaxEvaluations > 0 || c.Options.Tolerance < 0 {
		return false
	}
	if c.Solver == nil {
		return true
	}
	s, ok := c.Solver.(framework.Equivariant)
	return ok && s.Equivariant()
}

// wideningAxes are the axes of a fit, with M and its tridiagonal form among them.
type wideningAxes struct {
	*rows.FormAxes
	m    *dense.Positive
	of   framework.Loss
	form *dense.Tridiagonal

	beyond []float64 // m x D: see gradient
	norm   float64   // of the gradient there
}

// coordinates returns the rows and the loss in the axes.
func (a *wideningAxes) coordinates() (Data, framework.Loss) {
	var x Data
	x, a.form = a.Rows()
	return x, nearest.NewTridiagonalForm(a.form, a.of)
}

// first returns the limits of the run that is to be gone on with in more axes.
func (a *wideningAxes) first(o framework.Options) framework.Options {
	if a == nil {
		return o
	}
	o.FirstOrder, o.CheckEvery = true, 5
	o.Tolerance = math.Max(o.Tolerance, coarse)
	return o
}

// gradient computes what the gradient in Q of a problem has outside of the axes, and returns the stationarity with it.
func (a *wideningAxes) gradient(p *Problem, x framework.Point) ([]float64, error) {
	s := p.Shape()
	inside := make([]float64, len(x[BlockQ]))
	if _, err := p.Evaluate(framework.Point{BlockQ: inside, BlockTau: nil}, x); err != nil {
		return nil, err
	}
	_, D := a.Dims()
	a.beyond = dense.Grow(a.beyond, s.M*D)
	if f, definite := a.form.Factor(); definite {
		f.Solve(inside, s.M) // the gradient is 2ME: this is 2E
		a.Outside(a.beyond, inside, s.M)
	} else {
		clear(a.beyond)
	}
	a.norm = dense.Norm(a.beyond)
	stationarity := make([]float64, len(x))
	if err := p.Stationarity(stationarity, x); err != nil {
		return nil, err
	}
	var err error
	stationarity[BlockQ], err = p.StationarityBeyond(x, a.norm)
	return stationarity, err
}

// widen adds axes for the point of a problem, and returns the problem and the point in these; the problem as it is where there are none
// to add.
func (a *wideningAxes) widen(p *Problem, x framework.Point) (*Problem, framework.Point, error) {
	m := p.Shape().M
	_, D := a.Dims()
	directions := make([]float64, (1+inverses)*m*D)
	copy(directions, a.beyond)
	for from := 0; from < inverses*m*D; from += m * D {
		next := directions[from+m*D : from+2*m*D]
		copy(next, directions[from:])
		a.m.SolveRows(next)
	}
	whole := expandPoint(a, x, m)
	if !a.Add(directions) {
		return p, x, nil
	}
	data, loss := a.coordinates()
	wider, err := NewProblem(p.Context(), data, loss, p.Shape().Latent, p.Shape().S, p.Threads())
	if err != nil {
		return nil, nil, err
	}
	wider.Lambda, wider.MaxPenalty, wider.together, wider.limits = p.Lambda, p.MaxPenalty, p.together, p.limits
	at := shrinkPoint(a, whole, m)
	return wider, at, wider.Blocks()[BlockQ].Restore(at[BlockQ])
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

// tell adds to the first-order system of a fit what its gradient in Q has outside of the axes.
func (a *wideningAxes) tell(m *Meta) {
	if a != nil && m.KKT != nil {
		m.KKT.Q = math.Hypot(m.KKT.Q, a.norm/float64(m.N))
	}
}
