package scqm

import (
	"context"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/solvers"
)

// Fits of tables have many minima, and a run from principal components ends in one near
// those. A fit that bends strongly has found other axes. Without its curvature, with these
// axes and the coordinates of the rows along the sheet, it is another start, and often one
// from which a lower minimum is found.

const (
	// bendsStrongly is the curvature times extent from which on a sheet is flattened:
	// gentler ones come back to where they were, nearly all of them.
	bendsStrongly = foldedCurvature / 2
	// worthBending is the relative decrease that makes another minimum of it, as the run
	// may not have come to its own yet.
	worthBending = 1e-3
	// sameMinimum and sameStep are the distance of a cost from that of the fit and the
	// decrease in an iteration, relative to it, at which a run has come back.
	sameMinimum, sameStep = 1e-4, 1e-5
	// bendIterations bounds the run from the flat sheet, where the run of the fit goes on.
	bendIterations = 300
)

// bendAgain moves x, in place, to where a run ends that begins there with Theta = 0, if
// that is lower by more than the curvature that it adds pays for, see [finding]. Like
// other examinations it takes place where the path says so, never the tolerance. It does so once
// in a run, see [Problem.mayBendAgain]. The run has the time limit of the fit.
func (p *Problem) bendAgain(x framework.Point) (moved bool, passes float64, err error) {
	if p.bentAgain || !p.mayBendAgain(x) {
		return false, 0, nil
	}
	p.bentAgain = true
	q, err := p.apart()
	if err != nil {
		return false, 0, err
	}
	q.together, q.bentAgain = p.together, true
	cost, err := q.Evaluate(nil, x)
	if err != nil {
		return false, 1, err
	}
	flat := x.Clone()
	clear(flat[BlockTheta])
	ctx, cancel := context.WithCancel(p.Context())
	defer cancel()
	last := math.Inf(1)
	run, err := framework.Solve(ctx, q, flat, solvers.Auto(q), framework.Options{
		MaxIterations: bendIterations, TimeLimit: p.limits.TimeLimit, Begin: p.limits.Begin,
		Observers: []framework.Observer{func(at framework.Progress) {
			if math.Abs(at.Cost-cost) <= sameMinimum*cost && last-at.Cost <= sameStep*cost {
				cancel()
			}
			last = at.Cost
		}},
	})
	if run == nil || err != nil {
		return false, 1, nil // no way leads from there
	}
	passes = 1 + run.Counts.Passes
	here, there := p.finding(&framework.Result{Point: x, Cost: cost}), p.finding(run)
	if !(there.cost < cost*(1-worthBending) && there.score() < here.score()) {
		return false, passes, nil
	}
	for k := range x {
		copy(x[k], run.Point[k])
	}
	return true, passes, nil
}

// mayBendAgain reports whether a run from the flat sheet may pay: for sheets that bend
// strongly, under radial losses and metrics, where points are probed too, and only with a
// ridge, without which curvature may grow without end. Losses by entry are for tables with
// wrong entries, and from a flat sheet rounding decides to which of these they bend.
func (p *Problem) mayBendAgain(x framework.Point) bool {
	switch framework.StructureOf(p.PlainLoss()) {
	case framework.StructureRadial, framework.StructureQuadratic:
	default:
		return false
	}
	if p.Lambda == 0 || p.Data().Missing {
		return false
	}
	if shape, fits := p.ArrowheadShape(); !fits || !shape.Probeable() {
		return false
	}
	return p.model(x).CurvatureExtent(x[BlockTau], p.Data().Weights) > bendsStrongly
}
