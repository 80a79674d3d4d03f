package scqm

import (
	"context"
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/alternating"
	"github.com/scqm/scqm/models/scqm/internal/arrowhead"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/precondition"
)

// The blocks of a Problem, in order.
const (
	BlockC     = objective.BlockC
	BlockQ     = objective.BlockQ
	BlockTheta = objective.BlockTheta
	BlockTau   = objective.BlockTau
)

// Problem is the fit of a sheet with d latent dimensions and s directions of curvature to n rows x_i of length D, as
// a framework.Problem. Its blocks are c in R^D, Q on St(D, d+s), Theta in R^{q x s} with q = d(d+1)/2, and Tau, the n
// coordinates tau_i in R^d. The cost is
//
//	sum_i w_i loss(f(tau_i) - x_i) + Lambda sum_k |A_k|_F^2,
//
// with A_k the symmetric d x d matrix of column k of Theta: rotations of tau do not change the penalty. A Problem
// holds buffers: use it from one goroutine at a time.
//
// The embedded parts implement the optional capabilities, which solvers find by type assertion.
type Problem struct {
	*objective.Objective      // Blocks, Evaluate, Resume, rows, Stationarity, Smooth
	*alternating.Sweeper      // OuterBlocks, Sweep
	*arrowhead.Hessian        // ArrowheadShape, AssembleHessian, RetractOuter, InnerStep
	*precondition.BlockJacobi // BuildPreconditioner, Precondition
	latent.Explorer           // Begin, Explores, Relocate, Probe

	// published reports that the solver is that of the paper, which starts at Theta = 0. Other solvers start at the
	// Theta of least squares.
	published bool

	inSpan *Problem // in coordinates of the span, see restrict
	span   *rows.Span
}

// NewProblem prepares the fit of a model with latent dimension d and s curvature dimensions, d >= 1, 0 <= s, d + s <=
// D. When ctx is done, evaluations end early with its error. threads below 1 stands for all processors; a
// [rowloss.HighLatency] loss is called from more goroutines. If data can have missing entries, the loss is evaluated
// by entry and ignores them.
func NewProblem(ctx context.Context, data Data, loss framework.Loss, d, s, threads int) (*Problem, error) {
	if data.Missing {
		by, err := losses.IgnoreMissing(loss)
		if err != nil {
			return nil, fmt.Errorf("scqm: %w: %w", err, ErrInput)
		}
		loss = by
	}
	o, err := objective.New(ctx, data, loss, d, s, threads)
	if err != nil {
		return nil, err
	}
	return &Problem{
		Objective: o, Sweeper: alternating.New(o), Hessian: arrowhead.New(o), BlockJacobi: precondition.New(o),
	}, nil
}

// KKT holds the norms of the first-order conditions at a point, per sample.
type KKT = objective.KKT

// Refute returns a warning if the curvature of the fit is still growing; see [objective.Growing].
func (p *Problem) Refute(x framework.Point) (string, error) {
	f := p.NewSheet()
	f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	return objective.Growing(p, f, x, math.Sqrt(spread(*p.Data(), x[BlockC])))
}

// reduced returns the problem for rows in other coordinates. It takes over all settings of p except the loss.
func (p *Problem) reduced(data Data, loss framework.Loss) (*Problem, error) {
	s := p.Shape()
	q, err := NewProblem(p.Context(), data, loss, s.Latent, s.S, p.Threads())
	if err != nil {
		return nil, err
	}
	q.Regularizer, q.published = p.Regularizer, p.published
	return q, nil
}
