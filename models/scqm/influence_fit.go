package scqm

import (
	"context"
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/influence"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
	"github.com/scqm/scqm/solvers"
)

const (
	// roundingShare is the smoothing length of kinks, in units of the typical residual. A smaller length approximates
	// the loss better, but its second derivatives are valid in a smaller region around the fit.
	roundingShare = 0.03
	// objectiveDifference is the relative difference up to which the objective of the model on the data counts as
	// equal to that of its fit. A fit does not relocate rows for a decrease of less than 1e-5.
	objectiveDifference = 2e-5
	// refineTolerance and refineGain end the refinement for a smoothed loss; refineGain is a relative decrease of the
	// cost.
	refineTolerance = 1e-9
	refineGain      = 1e-10
)

// asPoint returns the model as a point of the problem that it solves.
func (m *Model) asPoint(ctx context.Context, x Data, threads int) (*pointFit, error) {
	f := m.sheet()
	p, err := NewProblem(ctx, x, m.Loss, f.Latent, f.S, threads)
	if err != nil {
		return nil, err
	}
	at := m.point(x.N)
	if copy(at[BlockTau], m.Tau); len(m.Tau) != len(at[BlockTau]) {
		if err := nearest.ProjectRows(ctx, at[BlockTau], f, m.Loss, x, nearest.Missing{}, threads); err != nil {
			return nil, err
		}
	}
	if err := m.sameFit(p, at); err != nil {
		return nil, err
	}
	fit := &pointFit{problem: p, at: at}
	if err := fit.compress(); err != nil {
		return nil, err
	}
	return fit, nil
}

// response computes the response of the fit. If residuals are at kinks of the loss, it first moves the fit to a nearby
// minimum for a smoothed loss.
func (s *pointFit) response(ctx context.Context) (*Response, error) {
	scale, err := s.problem.RoundingScale(s.at)
	if err != nil {
		return nil, err
	}
	if scale == 0 {
		return s.respond(ctx)
	}
	plain := s.problem
	if s.jumps, err = objective.Jumps(plain.Loss(), plain.Data().D, scale); err != nil {
		return nil, err
	}
	if err := s.round(ctx, plain, roundingShare*scale); err != nil {
		return nil, err
	}
	return s.respond(ctx)
}

// respond computes the response of the fit without smoothing.
func (s *pointFit) respond(ctx context.Context) (*Response, error) {
	p, f := s.problem, s.problem.NewSheet()
	f.Load(s.at[BlockC], s.at[BlockQ], s.at[BlockTheta])
	r, err := newResponse(f, p.Loss(), p.Data().N, s.at[BlockTau])
	if err != nil {
		return nil, err
	}
	of, err := r.sum(ctx, &LocalEngine{Source: *p.Data(), Loss: p.Loss(), Threads: p.Threads()})
	if err != nil {
		return nil, err
	}
	return r, r.settle(of, p.Regularizer)
}

// sameFit sets Lambda of p to that of the fit. It returns an error for data that the model was not fitted to.
func (m *Model) sameFit(p *Problem, at framework.Point) error {
	p.Lambda = m.penaltyFactor(m.sheet())
	cost, terms, err := p.EvaluateTerms(nil, at)
	if err != nil {
		return err
	}
	cost -= p.Penalty(nil, at[BlockTheta])
	return m.sameObjective(cost, terms.Exact())
}

// penaltyFactor returns Lambda of the fit, computed from its recorded penalty and its sheet.
func (m *Model) penaltyFactor(f *sheet.Sheet) float64 {
	one := objective.Regularizer{Lambda: 1}
	if size := one.PenaltyOf(f.Shape, nil, f.Theta); size > 0 {
		return m.Meta.Penalty / size
	}
	return 0
}

// sameObjective returns an error if the cost of the rows differs from that of the fit, or all residuals are zero.
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

// compress changes to coordinates of the span of the rows if this loses no information.
func (s *pointFit) compress() error {
	small, at, err := s.problem.restrict(s.at)
	if small == nil || err != nil {
		return err
	}
	if err := small.Blocks()[BlockQ].Restore(at[BlockQ]); err != nil {
		return err
	}
	s.problem, s.at = small, at
	return nil
}

// round replaces the fit by a minimum nearby for the loss smoothed over eps.
func (s *pointFit) round(ctx context.Context, plain *Problem, eps float64) error {
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

// ErrNotMinimum marks a model that is not a minimum for the given rows.
var ErrNotMinimum = influence.ErrNotMinimum

// pointFit is a fitted model as a Problem and a point.
type pointFit struct {
	problem  *Problem
	at       framework.Point
	rounding float64
	jumps    bool // the gradient of the loss jumps at the smoothed kinks
}
