package streaming

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// Run is a run from one start.
type Run struct {
	Result *framework.Result
	Norms  *Norms             // nil where a cancelled run left no time for them
	Cost   *blocks.FirstOrder // likewise
}

// Run solves from start number k and judges where that ends. Run is nil where nothing came of it; it can come with an error.
func (p *Problem) Run(ctx context.Context, s *Starts, k int, solver framework.Solver, o framework.Options) (*Run, error) {
	x, err := s.Point(k)
	if err != nil {
		return nil, err
	}
	p.timed = timed{limits: o}
	defer func() { p.timed = timed{} }()
	result, failure := framework.Solve(ctx, p.conditioned(), x, solver, o)
	if result == nil {
		return nil, failure
	}
	r := &Run{Result: result}
	if result.Stationarity != nil {
		err := p.judgeInTime(r, o.Tolerance)
		switch {
		case err != nil && ctx.Err() != nil:
			result.Status = framework.Cancelled
			result.Message = fmt.Sprintf("cancelled after %d iterations, before the result was judged; the best point so far is kept", result.Iterations)
		case err != nil:
			return nil, err
		}
	}
	return r, failure
}

// judgeInTime judges a run, or where there is no time left to project the rows, where passes place them.
func (p *Problem) judgeInTime(r *Run, tolerance float64) error {
	project := framework.StructureOf(p.loss) != framework.StructureRadial
	err := p.judge(r, tolerance, project)
	if !project || !errors.Is(err, context.DeadlineExceeded) || p.ctx.Err() != nil {
		return err
	}
	r.Result.Status = framework.TimeLimit
	r.Result.Message = fmt.Sprintf("stopped at the time limit of %v; first-order residual %.2g with rows where passes place them; there was no time to find the nearest points", p.timed.limits.TimeLimit, slices.Max(r.Result.Stationarity))
	if err = p.judge(r, tolerance, false); errors.Is(err, context.DeadlineExceeded) && p.ctx.Err() == nil {
		return nil // what the run knows of its point stands
	}
	return err
}

// judge computes what is told of a run that has ended: where the loss is no function of
// the norm, at rows projected as a model projects them, which may be nearer to the sheet
// than passes place them.
func (p *Problem) judge(r *Run, tolerance float64, project bool) error {
	p.placed = project
	defer func() { p.placed = false }()
	n, err := p.norms(r.Result.Point)
	p.eps = 0
	if err != nil {
		return err
	}
	if r.Cost, err = p.firstOrder(r.Result.Point); err != nil {
		return err
	}
	if p.draws != nil {
		p.weight = r.Cost.Weight // which a sample of the rows does not tell
	}
	if p.placed {
		r.Result.Cost = r.Cost.Cost + p.Penalty(nil, r.Result.Point[objective.BlockTheta])
	}
	r.Norms = &n
	return p.settle(r, tolerance)
}

// settle holds all blocks, and the coordinates of the rows, to the tolerance. The run was ended by residuals of rows where passes place them:
// what stalled by these alone is converged where every row is at its nearest point.
func (p *Problem) settle(r *Run, tolerance float64) error {
	if tolerance == 0 {
		tolerance = framework.DefaultTolerance
	}
	residuals := r.Norms.residuals
	if !p.placed {
		copy(residuals[:], r.Result.Stationarity)
	}
	stalled := r.Result.Status == framework.Stalled && !(slices.Max(r.Result.Stationarity) <= tolerance)
	r.Result.Stationarity = residuals[:]
	worst := 0
	for k, v := range residuals {
		if v > residuals[worst] || math.IsNaN(v) {
			worst = k
		}
	}
	where := fmt.Sprintf("%.2g in block %s with every row at its nearest point", residuals[worst], [...]string{"c", "Q", "Theta", "Tau"}[worst])
	within := residuals[worst] <= tolerance
	switch {
	case r.Result.Status == framework.Converged && !within:
		r.Result.Status = framework.Stalled
		r.Result.Message = fmt.Sprintf("the cost no longer falls, but the first-order residual is %s, above the tolerance %.2g", where, tolerance)
	case stalled && within:
		refuted, err := p.Refute(r.Result.Point)
		if err != nil || refuted != "" {
			return err
		}
		r.Result.Status = framework.Converged
		r.Result.Message = fmt.Sprintf("first-order stationary: residual %s, within the tolerance %.2g", where, tolerance)
	}
	return nil
}
