package scqm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

const (
	// weakPrior is the first prior of settlePrior, relative to that of the start. A weak prior is needed because the
	// estimated noise converges from below: curvature that a strong prior keeps out of the sheet would count as noise
	// in every later prior.
	weakPrior = 1e-3
	// leastPrior bounds the prior below, relative to the first prior. Exact data have no noise, and without a prior
	// incomplete rows may have no unique projection.
	leastPrior = 1e-6
	// priorRuns bounds the runs of settlePrior after the first, and priorTolerance is their tolerance. The runs end
	// when a change of the prior changes the cost by less than settledPrior, relative to the cost. This also bounds
	// the change of the noise in a further run.
	priorRuns, priorTolerance, settledPrior = 3, 1e-3, 0.05
	// firstCheck is the interval of checks of the first run, which needs low accuracy and no relocations.
	firstCheck = 5
)

// settlePrior replaces the prior of the start, in which unmodelled curvature counts as noise. It computes the new prior
// from the noise and the covariance of tau of the fitted sheet. This sheet becomes start 0.
func (p *Problem) settlePrior(ctx context.Context, s *starts, solver framework.Solver, o framework.Options) error {
	if p.Prior == nil || p.Shape().S == 0 {
		return nil
	}
	o.Tolerance, o.Observers, o.Checkpoint = max(o.Tolerance, priorTolerance), nil, nil
	floats.Scale(weakPrior, p.Prior)
	least := slices.Clone(p.Prior)
	floats.Scale(leastPrior, least)
	first := o
	first.FirstOrder, first.CheckEvery = true, firstCheck
	run, _, err := p.minimizeAll(ctx, s, solver, first)
	for rest := priorRuns; ; rest-- {
		if run == nil || err != nil || run.Status == framework.Cancelled {
			return err
		}
		if !p.published {
			s.settled = run.Point
			if s.enough > 0 {
				s.count = 1
			}
		}
		before := p.PriorPenalty(run.Point)
		if err := p.setPrior(run.Point); err != nil {
			return err
		}
		if floats.Norm(p.Prior, 2) < floats.Norm(least, 2) {
			p.Prior = least
		}
		if rest == 0 || math.Abs(p.PriorPenalty(run.Point)-before) <= settledPrior*run.Cost {
			return nil
		}
		run, err = p.minimize(ctx, run.Point, solver, o)
	}
}
