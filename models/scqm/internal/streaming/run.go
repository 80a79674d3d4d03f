package streaming

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// Run is the result of a run of the solver from one start.
type Run struct {
	Result *framework.Result
	Norms  *Norms             // nil if a cancelled run left no time for them
	Cost   *blocks.FirstOrder // likewise
}

// Run solves from the start and judges the result, nil if there is none. Run and error can both be set.
func (p *Problem) Run(ctx context.Context, s *Starts, solver framework.Solver, o framework.Options) (*Run, error) {
	x, err := s.Point()
	if err != nil {
		return nil, err
	}
	result, failure := framework.Solve(ctx, p, x, solver, o)
	if result == nil {
		return nil, failure
	}
	r := &Run{Result: result}
	if result.Stationarity != nil {
		err := p.judge(r, o.Tolerance)
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

// judge computes the cost and the norms at the end of a run. It projects rows as a model does, which may find points
// nearer than those of a pass.
func (p *Problem) judge(r *Run, tolerance float64) error {
	p.placed = true
	defer func() { p.placed = false }()
	n, err := p.norms(r.Result.Point)
	p.eps = 0
	if err != nil {
		return err
	}
	if r.Cost, err = p.firstOrder(r.Result.Point); err != nil {
		return err
	}
	r.Result.Cost = r.Cost.Cost + p.Penalty(nil, r.Result.Point[objective.BlockTheta])
	r.Norms = &n
	return p.settle(r, tolerance)
}

// settle tests the gradients of all blocks and tau against the tolerance. If a run stalled only because tau was not
// updated in its passes, it has converged if the test holds with every row at its projection.
func (p *Problem) settle(r *Run, tolerance float64) error {
	if tolerance == 0 {
		tolerance = framework.DefaultTolerance
	}
	residuals := r.Norms.residuals
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
