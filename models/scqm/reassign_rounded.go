package scqm

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/solvers"
)

// Norms of residuals, and powers p < 2 of their entries, have second derivatives without bound where they vanish,
// so that what a row promises at another place cannot be told from them. Rounded over a part of a typical
// residual it can: of single rows, while what
// several promise together is wrong by far.

const (
	// atRest is the stationarity of the points from which rows are moved.
	atRest = 1e-7
	// rowRounding is the length of the rounding, relative to the scale of a typical residual.
	rowRounding = 0.3
	// roundedPromise is the relative decrease that a row must promise, and maxRounded the number of
	// rows that are tried.
	roundedPromise, maxRounded = 1e-5, 3
	// settledSteps are the inner steps that rows take to their rounded places.
	settledSteps = 6
	// decrementError is the part of the decrement by which that may miss what Newton's method gains.
	decrementError = 0.1
	// settleIterations bounds the iterations of Newton's method on the rounded cost from where a row has moved,
	// hopeIterations those above where it was, roundedStage is the first stage after them, of about the same length, and roundedIterations
	// bounds the iterations from there.
	settleIterations, hopeIterations, roundedStage, roundedIterations = 20, 8, 1, 120
)

// reassignRounded is [Problem.reassignTogether] for losses with kinks or without bounded second derivatives. Of
// losses by entry with kinks the finish moves rows between vertices, and nothing is done here.
func (p *Problem) reassignRounded(x framework.Point) (moved bool, passes float64, err error) {
	if _, radial := p.PlainLoss().(framework.Radial); !radial && !p.Differentiable() {
		return false, 0, nil
	}
	residuals := make([]float64, len(p.Blocks()))
	if err := p.Stationarity(residuals, x); err != nil || !(slices.Max(residuals) <= atRest) {
		return false, 1, err
	}
	q, err := p.apart()
	if err != nil {
		return false, 1, err
	}
	cost, err := q.Evaluate(nil, x)
	if err != nil || p.tried.before(nil, set{}, cost) {
		return false, 2, err
	}
	end, passes, err := q.moveRounded(x, cost)
	if err != nil {
		return false, passes, err
	}
	if end == nil {
		p.tried.keep(nil, set{}, cost) // no set: all that there was
		return false, passes, nil
	}
	for k := range x {
		copy(x[k], end[k])
	}
	return true, passes, nil
}

// moveRounded tries the rows that promise most under the rounded loss, and returns where one of them leads
// lower under the loss itself, by the rule for starts; else nothing.
func (p *Problem) moveRounded(x framework.Point, cost float64) (end framework.Point, passes float64, err error) {
	from := make([]float64, p.Data().N)
	if err := p.EvaluateRows(from, nil, x, BlockTau, nil); err != nil {
		return nil, 1, err
	}
	rows := p.foldedRows(x, from, cost)
	_, scale, err := p.DualScale(x)
	if scale == 0 || len(rows) == 0 || err != nil {
		return nil, 2, err
	}
	eps := rowRounding * scale
	p.Smooth(eps)
	defer p.Smooth(0)
	at, err := p.settled(x, settledSteps)
	if err != nil {
		return nil, 2, err
	}
	passes = 2 + settledSteps
	h, ok, err := framework.ReduceHessian(p, at)
	if err != nil || !ok || !h.Decompose() {
		return nil, passes, err
	}
	if err := p.EvaluateRows(from, nil, at, BlockTau, nil); err != nil {
		return nil, passes, err
	}
	list, err := p.movableRows(at, rows, from, cost, h)
	passes += movablePasses
	if err != nil {
		return nil, passes, err
	}
	rest, err := p.Evaluate(nil, at)
	if err != nil {
		return nil, passes + 1, err
	}
	below := rest - (1+decrementError)*h.Decrement() - worthMoving*cost
	here := p.finding(&framework.Result{Point: x, Cost: cost})
	for k := range list[:min(len(list), maxRounded)] {
		if !(list[k].gain > roundedPromise*cost) {
			break
		}
		run, used, err := p.moveOne(at, list, k, h, eps, rest, below)
		passes += used
		if err != nil {
			return nil, passes, err
		}
		if run != nil && run.Cost < cost*(1-worthMoving) && p.finding(run).supersedes(here) {
			return run.Point, passes, nil
		}
	}
	return nil, passes, nil
}

// moveOne moves one row of a list, from a point at rest under the cost rounded over eps, and returns where that leads to under the
// cost itself; nothing where the row comes back, or the rounded cost does not come below that at the point
// soon, and then below the one given: what is lower rounded is lower.
func (p *Problem) moveOne(at framework.Point, list []movable, k int, h *framework.ReducedHessian, eps, rest, below float64) (*framework.Result, float64, error) {
	moved := p.follow(at, list, set{rows: []int{k}}, h)
	if moved == nil {
		return nil, 0, nil
	}
	p.Smooth(eps)
	defer p.Smooth(0)
	ctx, cancel := context.WithCancel(p.Context())
	defer cancel()
	d, row, back := p.Shape().Latent, list[k].row, false
	near, err := framework.Solve(ctx, p, moved, solvers.Newton{}, framework.Options{
		MaxIterations: settleIterations, FirstOrder: true, TimeLimit: p.limits.TimeLimit, Begin: p.limits.Begin,
		Observers: []framework.Observer{func(now framework.Progress) {
			x, _ := now.State.Iterate()
			tau := x[BlockTau][row*d : (row+1)*d]
			home := floats.Distance(tau, at[BlockTau][row*d:(row+1)*d], 2) < floats.Distance(tau, list[k].tau, 2)
			if home || now.Iteration >= hopeIterations && now.Cost > rest {
				back = true
				cancel()
			}
		}},
	})
	if near == nil {
		return nil, 0, err
	}
	passes := near.Counts.Passes
	if back || err != nil || !(near.Cost < below) {
		return nil, passes, p.Context().Err()
	}
	p.Smooth(0)
	run, err := framework.Solve(p.Context(), p, near.Point, solvers.Continuation{Inner: solvers.Newton{}, Begin: roundedStage, Finish: true},
		framework.Options{MaxIterations: roundedIterations, FirstOrder: true, TimeLimit: p.limits.TimeLimit, Begin: p.limits.Begin})
	if run == nil {
		return nil, passes, err
	}
	return run, passes + run.Counts.Passes, err
}

// settled returns x with the rows at the places that inner steps take them to.
func (p *Problem) settled(x framework.Point, steps int) (framework.Point, error) {
	x = x.Clone()
	for range steps {
		if _, _, err := p.InnerStep(x, x[BlockTau]); err != nil {
			return nil, err
		}
	}
	return x, nil
}
