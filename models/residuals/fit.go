package residuals

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/solvers"
)

// Config says how to fit. Loss is required.
type Config struct {
	// Loss is the loss of the residual rows.
	Loss framework.Loss
	// Weights multiply the losses of the rows; nil stands for 1.
	Weights []float64
	// Solver is the algorithm; nil stands for that of [Solver].
	Solver framework.Solver
	// Threads bounds the goroutines; below 1 stands for all processors. The result
	// does not depend on it.
	Threads int
	// Options are the limits of the run. For a smooth loss Tolerance is a gradient norm; for a loss with kinks it is
	// relative, see [New].
	Options framework.Options
}

// Result is the outcome of a fit.
type Result struct {
	// Point is the fit.
	Point framework.Point
	// Objective is the sum of weighted losses at Point.
	Objective float64
	// Residuals are the n x m residuals at Point, row-major, Norms their n norms:
	// outliers have large ones.
	Residuals, Norms []float64
	// Run is the report of the solver.
	Run *framework.Result
}

// Solver returns the algorithm of [Fit] for the problem that [New] makes from a function and a loss: trust regions,
// with kinks of the loss smoothed over decreasing lengths down to 1e-7 of a typical residual. Each minimiser is
// computed accurately, because steps along kinks are no longer than the smoothing length. If the function is a
// [Jacobian], the model uses the Hessian. Otherwise a Hessian product would cost two Jacobians by differences; the
// model is then that of Gauss-Newton with the weights of iteratively reweighted least squares. It takes a third of
// the evaluations or less but may stall at kinks, at about 1e-4. Fit then continues with the Hessian.
func Solver(f Function) framework.Solver { return rounded(trustRegion(f)) }

func rounded(inner solvers.TrustRegion) solvers.Continuation {
	return solvers.Continuation{Inner: inner, Last: lastRounding, FirstTolerance: 1e-7, LastTolerance: 1e-13, Finish: true}
}

// lastRounding is the last smoothing length of kinks, relative to a typical residual. Rounding errors of residuals,
// relative to it, are below the tolerance.
const lastRounding = 1e-7

// costRounding is the relative difference up to which costs are equal.
const costRounding = 0x1p-42

// trustRegion returns trust regions with the cheapest model that converges.
func trustRegion(f Function) solvers.TrustRegion {
	f = unwrap(f)
	_, known := f.(Jacobian)
	return solvers.TrustRegion{GaussNewton: !(known && differentiable(f))}
}

// Fit minimises the sum of weighted losses from a start. Like framework.Solve, it returns the best fit so far
// together with the error of a failed run. A run that was cancelled or out of budget gives no error: see Run.Status.
// If the sum is not convex the fit is a local minimum. It fails with rows.ErrInput if a residual at the start is NaN
// or infinite, and names the row.
func Fit(ctx context.Context, f Function, start framework.Point, c Config) (*Result, error) {
	p, err := New(ctx, f, c.Loss, c.Weights, c.Threads)
	if err != nil {
		return nil, err
	}
	if err := checkStart(f, p.Blocks(), start); err != nil {
		return nil, err
	}
	solver := c.Solver
	if solver == nil {
		solver = Solver(f)
	}
	run, err := framework.Solve(ctx, p, start, solver, c.Options)
	if run == nil {
		return nil, fmt.Errorf("residuals: %w", err)
	}
	if err == nil && c.Solver == nil && (run.Status == framework.Stalled || run.Status == framework.MaxIterations) {
		run = polish(ctx, p, f, start, run, c.Options)
	}
	result, failure := newResult(f, run)
	if err == nil {
		err = failure
	}
	if err != nil {
		return result, fmt.Errorf("residuals: %w", err)
	}
	return result, nil
}

// polish continues a stalled run, with the Hessian if the run did not use it, and returns the end if it is
// stationary. The budgets only apply to the first run.
func polish(ctx context.Context, p framework.Problem, f Function, start framework.Point, run *framework.Result, o framework.Options) *framework.Result {
	if o.Checkpoint != nil || o.MaxIterations > 0 || o.MaxEvaluations > 0 || o.TimeLimit > 0 {
		return run
	}
	inner := trustRegion(f)
	tries := []func(*framework.Result) (*framework.Result, error){
		func(from *framework.Result) (*framework.Result, error) { return unrounded(ctx, p, inner, from, o) },
	}
	if inner.GaussNewton && differentiable(unwrap(f)) {
		// From the start: where the run stalled most kinks are too near to be rounded.
		tries = append(tries, func(*framework.Result) (*framework.Result, error) {
			return framework.Solve(ctx, p, start, rounded(solvers.TrustRegion{}), o)
		})
	}
	for _, try := range tries {
		end, err := try(run)
		if err != nil || end.Cost-run.Cost > costRounding*run.Cost {
			continue
		}
		if end.Status == framework.Converged {
			return joined(run, end)
		}
	}
	return run
}

// unrounded continues with the loss itself. A fit that is already at kinks does not move. Multipliers that balance it
// are taken from the nearby smoothed cost, which is minimised first.
func unrounded(ctx context.Context, p framework.Problem, s solvers.TrustRegion, run *framework.Result, o framework.Options) (*framework.Result, error) {
	if kinks, ok := p.(framework.Smoothable); ok {
		scale, err := kinks.SmoothingScale(run.Point)
		if err != nil || scale == 0 {
			return run, err
		}
		kinks.Smooth(lastRounding * scale)
		_, err = framework.Solve(ctx, p, run.Point, s, framework.Options{MaxIterations: 50, Tolerance: -1})
		kinks.Smooth(0)
		if err != nil {
			return nil, err
		}
	}
	o.Tolerance, o.GradientUnit = run.Tolerance, 1 // relative to the start of the whole run
	return framework.Solve(ctx, p, run.Point, s, o)
}

// joined returns the end of a continued run, with the work of both parts.
func joined(run, end *framework.Result) *framework.Result {
	end.Iterations += run.Iterations
	end.Counts.Evaluations += run.Counts.Evaluations
	end.Counts.Hessians += run.Counts.Hessians
	end.Counts.Passes += run.Counts.Passes
	end.Elapsed += run.Elapsed
	end.History = append(run.History, end.History...)
	return end
}

// checkStart rejects a start with residuals that are not finite. framework.Solve checks whether it is on the
// manifolds.
func checkStart(f Function, blocks []framework.Block, start framework.Point) error {
	if len(start) != len(blocks) {
		return nil
	}
	for k, b := range blocks {
		if len(start[k]) != b.Size() || !(framework.Point{start[k]}).Finite() || !(b.Violation(start[k]) <= maxViolation) {
			return nil
		}
	}
	n, m := f.Shape()
	r := make([]float64, m)
	for i := range n {
		if err := f.Residuals(r, start, i, i+1); err != nil {
			return fmt.Errorf("residuals: row %d: %w", i, err)
		}
		for k, v := range r {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("residuals: row %d, entry %d is %v at the start; remove or repair the row: %w", i, k, v, rows.ErrInput)
			}
		}
	}
	return nil
}

func newResult(f Function, run *framework.Result) (*Result, error) {
	n, m := f.Shape()
	r := &Result{Point: run.Point, Objective: run.Cost, Residuals: make([]float64, n*m), Norms: make([]float64, n), Run: run}
	if err := f.Residuals(r.Residuals, run.Point, 0, n); err != nil {
		return r, err
	}
	for i := range r.Norms {
		r.Norms[i] = floats.Norm(r.Residuals[i*m:(i+1)*m], 2)
	}
	return r, nil
}
