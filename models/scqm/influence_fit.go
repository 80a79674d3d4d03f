package scqm

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/influence"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/solvers"
)

const (
	// roundingShare is the length over which kinks are rounded, in units of the
	// typical residual. Less is closer to the loss, and to second derivatives that
	// tell nothing of the fit as a whole. It grows by roundingGrowth, up to
	// roundingMost, until the rounded fit has a minimum nearby.
	roundingShare  = 0.03
	roundingGrowth = 3
	roundingMost   = 1
	// objectiveDifference is the relative difference up to which the objective of the
	// model on the data and the one it was fitted with are one.
	objectiveDifference = 1e-6
	// refineTolerance and refineGain, a relative decrease of the cost, end the
	// refinement for a rounded loss.
	refineTolerance = 1e-9
	refineGain      = 1e-10
)

// refined returns the model as a point of the problem that it solves, with every
// tau_i at a minimum.
func (m *Model) refined(ctx context.Context, x Data, threads int) (*refinedFit, error) {
	f := m.sheet()
	p, err := NewProblem(ctx, x, m.Loss, f.Latent, f.S, threads)
	if err != nil {
		return nil, err
	}
	at := framework.Point{f.C, make([]float64, f.D*f.M), f.Theta, make([]float64, x.N*f.Latent)}
	dense.Transpose(at[BlockQ], f.QT, f.M, f.D)
	if copy(at[BlockTau], m.Tau); len(m.Tau) != len(at[BlockTau]) {
		if err := nearest.ProjectRows(ctx, at[BlockTau], f, m.Loss, nil, x, nearest.Missing{}, threads); err != nil {
			return nil, err
		}
	}
	if err := m.sameFit(p, at); err != nil {
		return nil, err
	}
	if err := nearest.RefineRows(ctx, at[BlockTau], f, m.Loss, x, threads); err != nil {
		return nil, err
	}
	fit := &refinedFit{problem: p, at: at}
	if err := fit.compress(); err != nil {
		return nil, err
	}
	return fit, nil
}

// jackknife prepares the jackknife at the fit or, where residuals sit on kinks of
// the loss, at the minimum of a rounded one nearby, which becomes the fit.
func (s *refinedFit) jackknife(ctx context.Context) (*influence.Jackknife, error) {
	scale, err := s.problem.RoundingScale(s.at)
	if err != nil {
		return nil, err
	}
	if scale == 0 {
		return influence.New(s.problem.Objective, s.at, BlockRows)
	}
	plain := *s
	if s.jumps, err = objective.Jumps(s.problem.Loss(), s.problem.Data().D, scale); err != nil {
		return nil, err
	}
	for share := roundingShare; ; share *= roundingGrowth {
		if err := s.round(ctx, plain.problem, share*scale); err != nil {
			return nil, err
		}
		k, err := influence.New(s.problem.Objective, s.at, BlockRows)
		if !errors.Is(err, ErrNotMinimum) || share*roundingGrowth > roundingMost {
			return k, err
		}
	}
}

// sameFit sets the penalty to that of the fit and refuses data that it was not
// a fit to.
func (m *Model) sameFit(p *Problem, at framework.Point) error {
	p.Lambda = m.penaltyFactor(p.Objective, at[BlockTheta])
	cost, terms, err := p.EvaluateTerms(nil, at)
	if err != nil {
		return err
	}
	cost -= p.Penalty(nil, at[BlockTheta])
	return m.sameObjective(cost, terms.Exact())
}

// penaltyFactor is the factor of the penalty with which it is that of the fit.
func (m *Model) penaltyFactor(o *objective.Objective, theta []float64) float64 {
	o.Lambda = 1
	if size := o.Penalty(nil, theta); size > 0 {
		return m.Meta.Penalty / size
	}
	return 0
}

// sameObjective refuses rows with a cost that is not that of the fit, or without residuals.
func (m *Model) sameObjective(cost float64, exact bool) error {
	if math.IsNaN(cost) || math.IsInf(cost, 0) {
		return rows.ErrOverflow
	}
	if exact {
		return fmt.Errorf("scqm: the model runs through every row, so that none can be told from another: use a smaller d or s, or more rows: %w", ErrInput)
	}
	if fitted := m.Meta.Objective; m.Meta.N > 0 && math.Abs(cost-fitted) > objectiveDifference*math.Max(fitted, cost) {
		return fmt.Errorf("scqm: the objective of the model is %.8g on these rows, and was %.8g on those it was learned from: give the same rows with the same weights: %w", cost, fitted, ErrInput)
	}
	return nil
}

// compress goes to the coordinates of the span of the rows where that loses
// nothing.
func (s *refinedFit) compress() error {
	small, at, _, err := s.problem.restrict(s.at)
	if small == nil || err != nil {
		return err
	}
	if err := small.Blocks()[BlockQ].Restore(at[BlockQ]); err != nil {
		return err
	}
	s.problem, s.at = small, at
	return nil
}

// round replaces the fit by that with the loss rounded over eps.
func (s *refinedFit) round(ctx context.Context, plain *Problem, eps float64) error {
	p, err := NewProblem(ctx, *plain.Data(), plain.Loss().(framework.Smoother).Smooth(eps), plain.Shape().Latent, plain.Shape().S, plain.Threads())
	if err != nil {
		return err
	}
	p.Lambda = plain.Lambda
	var solver framework.Solver = solvers.LBFGS{}
	if _, fits := p.ArrowheadShape(); fits {
		solver = solvers.Newton{}
	}
	run, err := framework.Solve(ctx, p, s.at, solver, framework.Options{Tolerance: refineTolerance, MinRelativeDecrease: refineGain, FirstOrder: true})
	if err != nil {
		return fmt.Errorf("scqm: fit of the rounded loss: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.problem, s.at, s.rounding = p, run.Point, eps
	return nil
}

// ErrNotMinimum marks a model that is no minimum on the rows it is looked at
// with: some change of it would lower the objective.
var ErrNotMinimum = influence.ErrNotMinimum

// refinedFit is a fit as a problem and a point.
type refinedFit struct {
	problem  *Problem
	at       framework.Point
	rounding float64
	jumps    bool // the gradient of the loss jumps at the kinks that were rounded
}
