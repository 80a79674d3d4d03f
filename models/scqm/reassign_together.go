package scqm

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/solvers"
)

// A row near a fold has a second place on the sheet, hardly farther than its nearest
// point. There it would pull the sheet another way, and what the sheet gains by following
// may outweigh the way: for rows of rises e_i that change the gradient with respect to
// (c, Q, Theta) by g_i, the cost changes by
//
//	sum_i e_i - |sum_i S^-1/2 g_i|^2 / 2
//
// to second order, S being the reduced Hessian. No row finds that by itself, as its
// nearest point is the better one until the sheet has followed.

const (
	// bent is the curvature times extent below which sheets have no folds.
	bent = 1
	// setIterations is the number of iterations of Newton's method for a set.
	setIterations = 40
)

// reassignTogether moves x, in place, to a lower minimum with few rows at other places
// than their nearest points before, if it finds one that is no more folded than pays, see
// [finding]. Losses with unbounded second derivatives are rounded for that, see reassignRounded.
func (p *Problem) reassignTogether(x framework.Point) (moved bool, passes float64, err error) {
	m := p.model(x)
	if p.Data().Missing || !(m.CurvatureExtent(x[BlockTau], p.Data().Weights) > bent) {
		return false, 0, nil
	}
	if _, kinked := p.PlainLoss().(framework.Smoother); kinked {
		return p.reassignRounded(x)
	}
	cost, err := p.Evaluate(nil, x)
	if err != nil {
		return false, 1, err
	}
	from := make([]float64, p.Data().N)
	if err := p.EvaluateRows(from, nil, x, BlockTau, nil); err != nil {
		return false, 2, err
	}
	rows := p.foldedRows(x, from, cost)
	if len(rows) == 0 {
		return false, 2, nil
	}
	h, ok, err := framework.ReduceHessian(p, x)
	passes = 2
	if err != nil || !ok {
		return false, passes, err
	}
	if h.Promises(atMinimum*cost) || !h.Decompose() || h.Decrement() > atMinimum*cost {
		return false, passes, err
	}
	list, err := p.movableRows(x, rows, from, cost, h)
	passes += movablePasses
	if err != nil {
		return false, passes, err
	}
	here := p.finding(&framework.Result{Point: x, Cost: cost})
	for _, s := range promising(list, worthMoving*cost) {
		if p.tried.before(list, s, cost) {
			continue
		}
		end, used, err := p.moveTogether(x, list, s, h)
		passes += used
		if err != nil {
			return false, passes, err
		}
		if end != nil && end.Cost < cost*(1-worthMoving) && p.finding(end).supersedes(here) {
			for k := range x {
				copy(x[k], end.Point[k])
			}
			return true, passes, nil
		}
		p.tried.keep(list, s, cost)
	}
	return false, passes, nil
}

// moveTogether moves the rows of a set, lets the sheet follow and runs Newton's method from
// there.
func (p *Problem) moveTogether(x framework.Point, list []movable, s set, h *framework.ReducedHessian) (*framework.Result, float64, error) {
	at := p.follow(x, list, s, h)
	if at == nil {
		return nil, 0, nil
	}
	newton, err := solvers.ByName("newton")
	if err != nil {
		return nil, 0, err
	}
	run, err := framework.Solve(p.Context(), p, at, newton, framework.Options{MaxIterations: setIterations, FirstOrder: true})
	if run == nil {
		return nil, 0, err
	}
	return run, run.Counts.Passes, err
}
