package scqm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/solvers"
	"gonum.org/v1/gonum/floats"
)

const (
	// roundingShare is the length over which kinks are rounded, in units of the
	// typical residual. Less is closer to the loss, and to second derivatives that
	// tell nothing of the fit as a whole. It grows by roundingGrowth, up to
	// roundingMost, until the rounded fit has a minimum nearby.
	roundingShare  = 0.03
	roundingGrowth = 3
	roundingMost   = 1
	// sameObjective is the relative difference up to which the objective of the
	// model on the data and the one it was fitted with are one.
	sameObjective = 1e-6
	// touching is the size of a residual, relative to the typical one, below
	// which a row sits on the kink of a radial loss.
	touching = 1e-3
	// settledTolerance and settledGain, a relative decrease of the cost, end the
	// refinement for a rounded loss.
	settledTolerance = 1e-9
	settledGain      = 1e-10
)

// settled returns the model as a point of the problem that it solves, without
// columns of V that carry no curvature, with every tau_i at a minimum.
func (m *Model) settled(ctx context.Context, x Data, threads int) (*settledFit, error) {
	f := m.sheet().withoutFlat()
	p, err := NewProblem(ctx, x, m.Loss, f.d, f.s, threads)
	if err != nil {
		return nil, err
	}
	at := framework.Point{f.c, make([]float64, f.D*f.m), f.theta, make([]float64, x.N*f.d)}
	transpose(at[BlockQ], f.qt, f.m, f.D)
	if copy(at[BlockTau], m.Tau); len(m.Tau) != len(at[BlockTau]) {
		if err := projectRows(ctx, at[BlockTau], f, m.Loss, x, threads); err != nil {
			return nil, err
		}
	}
	if err := m.sameFit(p, at); err != nil {
		return nil, err
	}
	if err := refineRows(ctx, at[BlockTau], f, m.Loss, x, threads); err != nil {
		return nil, err
	}
	fit := &settledFit{problem: p, at: at}
	if err := fit.compress(ctx); err != nil {
		return nil, err
	}
	return fit, nil
}

// jackknife prepares the jackknife at the fit or, where residuals sit on kinks of
// the loss, at the minimum of a rounded one nearby, which becomes the fit.
func (s *settledFit) jackknife(ctx context.Context) (*jackknife, error) {
	scale, err := s.problem.roundingScale(s.at)
	if err != nil {
		return nil, err
	}
	if scale == 0 {
		return newJackknife(s.problem.objective, s.at)
	}
	plain := *s
	if s.jumps, err = jumps(s.problem.loss, s.problem.data.D, scale); err != nil {
		return nil, err
	}
	for share := roundingShare; ; share *= roundingGrowth {
		if err := s.round(ctx, plain.problem, share*scale); err != nil {
			return nil, err
		}
		k, err := newJackknife(s.problem.objective, s.at)
		if !errors.Is(err, ErrNotMinimum) || share*roundingGrowth > roundingMost {
			return k, err
		}
	}
}

// withoutFlat returns the sheet without the last columns of V where those of
// Theta are zero.
func (f *sheet) withoutFlat() *sheet {
	s := f.s
	for s > 0 {
		var size float64
		for a := range f.q {
			size = math.Max(size, math.Abs(f.theta[a*f.s+s-1]))
		}
		if size > 0 {
			break
		}
		s--
	}
	if s == f.s {
		return f
	}
	g := newSheet(f.D, f.d, s)
	copy(g.c, f.c)
	copy(g.qt, f.qt[:g.m*f.D])
	for a := range f.q {
		copy(g.theta[a*s:(a+1)*s], f.theta[a*f.s:a*f.s+s])
	}
	return g
}

// refineRows takes every tau_i to the minimum nearby.
func refineRows(ctx context.Context, tau []float64, f *sheet, loss framework.Loss, x Data, threads int) error {
	errs := make([]error, par.Shards(x.N))
	par.Do(par.Threads(threads), len(errs), func(_, shard int) {
		k := newProjector(f, loss)
		lo, hi := par.Bounds(x.N, shard)
		for i := lo; i < hi && errs[shard] == nil; i++ {
			row := Data{N: 1, D: x.D, X: x.Row(i)}
			own := tau[i*f.d : (i+1)*f.d]
			if errs[shard] = ctx.Err(); errs[shard] == nil {
				n := newtonRow{projector: k, ctx: ctx, e: rowEvaluation{sheet: f, loss: loss, data: row, tau: own}}
				errs[shard] = n.minimise(own)
			}
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// sameFit sets the penalty to that of the fit and refuses data that it was not
// a fit to.
func (m *Model) sameFit(p *Problem, at framework.Point) error {
	p.Lambda = 1
	if size := p.penalty(nil, at[BlockTheta]); size > 0 {
		p.Lambda = m.Meta.Penalty / size
	} else {
		p.Lambda = 0
	}
	cost, err := p.Evaluate(nil, at)
	if err != nil {
		return err
	}
	cost -= p.penalty(nil, at[BlockTheta])
	if math.IsNaN(cost) || math.IsInf(cost, 0) {
		return errOverflow
	}
	if _, exact, err := p.gradientTerms(); err != nil {
		return err
	} else if exact {
		return fmt.Errorf("scqm: the model runs through every row, so that none can be told from another: use a smaller d or s, or more rows: %w", ErrInput)
	}
	if fitted := m.Meta.Objective; m.Meta.N > 0 && math.Abs(cost-fitted) > sameObjective*math.Max(fitted, cost) {
		return fmt.Errorf("scqm: the objective of the model is %.8g on these rows, and was %.8g on those it was learned from: give the same rows with the same weights: %w", cost, fitted, ErrInput)
	}
	return nil
}

// compress goes to the coordinates of the span of the rows where that loses
// nothing, as [Problem.minimize] does.
func (s *settledFit) compress(ctx context.Context) error {
	p := s.problem
	n, f := p.data.N, p.sheet
	_, radial := p.loss.(framework.Radial)
	_, fixed := p.loss.(framework.Dimensioned)
	if !radial || fixed || n >= p.data.D || n <= f.m {
		return nil
	}
	b, rows := newSpan(p.data)
	small, err := NewProblem(ctx, rows, p.loss, f.d, f.s, p.threads)
	if err != nil {
		return fmt.Errorf("in the span of the rows: %w", err)
	}
	at := b.shrink(s.at, f.m)
	if !(small.blocks[BlockQ].Violation(at[BlockQ]) <= outsideSpan) {
		return nil
	}
	if err := small.blocks[BlockQ].Restore(at[BlockQ]); err != nil {
		return err
	}
	small.Lambda = p.Lambda
	s.problem, s.at = small, at
	return nil
}

// jumps reports whether the gradient of a loss jumps at r = 0: whether close to it
// it is about as long as at the distance of the scale.
func jumps(loss framework.Loss, D int, scale float64) (bool, error) {
	r := make([]float64, 2*D)
	r[0], r[D] = scale, scale*1e-12
	err := loss.Evaluate(nil, r, r, D)
	return math.Abs(r[D]) > math.Abs(r[0])/2, err
}

// round replaces the fit by that with the loss rounded over eps.
func (s *settledFit) round(ctx context.Context, plain *Problem, eps float64) error {
	p, err := NewProblem(ctx, plain.data, plain.loss.(framework.Smoother).Smooth(eps), plain.sheet.d, plain.sheet.s, plain.threads)
	if err != nil {
		return err
	}
	p.Lambda = plain.Lambda
	var solver framework.Solver = solvers.LBFGS{}
	if _, fits := p.ArrowShape(); fits {
		solver = solvers.Newton{}
	}
	run, err := framework.Solve(ctx, p, s.at, solver, framework.Options{Tolerance: settledTolerance, MinRelativeDecrease: settledGain})
	if err != nil {
		return fmt.Errorf("scqm: fit of the rounded loss: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.problem, s.at, s.rounding = p, run.Point, eps
	return nil
}

// roundingScale returns the typical size of what vanishes at a kink: of the
// norms of residuals where the loss is radial, else of their entries. It is 0
// where the loss has no kink, or is radial and has no residual near it.
func (p *objective) roundingScale(at framework.Point) (float64, error) {
	if _, ok := p.loss.(framework.Smoother); !ok {
		return 0, nil
	}
	if err := p.keepResiduals(at); err != nil {
		return 0, err
	}
	f := p.sheet
	var sizes []float64
	for i := range p.data.N {
		if p.data.weight(i) > 0 {
			sizes = append(sizes, floats.Norm(p.residuals[i*f.D:(i+1)*f.D], 2))
		}
	}
	slices.Sort(sizes)
	typical := sizes[len(sizes)/2]
	if _, radial := p.loss.(framework.Radial); !radial {
		return typical / math.Sqrt(float64(max(1, f.D-f.d))), nil
	}
	if f.D-f.d > fewNormals && sizes[0] > touching*typical {
		return 0, nil
	}
	return typical, nil
}
