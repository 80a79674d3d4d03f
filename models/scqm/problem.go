package scqm

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
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

// Problem is the fit of a model to data as a framework.Problem. Its blocks are
// c in R^D, Q on St(D, d+s), Theta in R^{q x s} and Tau, n rows of R^d. The cost
// is
//
//	sum_i w_i loss(f(tau_i) - x_i) + Lambda sum_k |A_k|_F^2,
//
// with a penalty that no rotation of tau changes. A Problem holds buffers: use
// it from one goroutine at a time.
//
// What a Problem can do is what it is made of: solvers find the methods of its
// parts. Each part has a sheet and caches of its own.
type Problem struct {
	*objective.Objective      // Blocks, Evaluate, Resume, rows, Stationarity, Smooth
	*alternating.Sweeper      // OuterBlocks, Sweep, Groups, MinimizeGroup
	*arrowhead.Hessian        // ArrowheadShape, AssembleHessian, RetractOuter, InnerStep
	*precondition.BlockJacobi // BuildPreconditioner, Precondition

	// published says that the solver is that of the paper, which begins at Theta
	// = 0; others begin at the Theta of least squares.
	published bool
	// together moves rows that are better elsewhere together, in fits of all rows; nil
	// does not.
	together func(p *Problem, x framework.Point) (moved bool, passes float64, err error)
	tried    triedSets // by together
	// bentAgain says that the sheet has been flattened once, see bendAgain; limits has the
	// time limit of the fit.
	bentAgain bool
	limits    framework.Options
}

// NewProblem prepares the fit of a model with latent dimension d and s
// curvature dimensions, d >= 1, 0 <= s, d + s <= D. Evaluations end early with
// the error of ctx when it is done. threads below 1 stands for all processors;
// a [framework.HighLatency] loss is called from more goroutines. Where data can have
// missing entries the loss is taken by entry and ignores them.
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

// Reassign moves the rows of Tau for which the sheet is nearer elsewhere, and where
// there are none, in fits, those that are better elsewhere together, and where there are
// none of these the whole sheet, see bendAgain.
func (p *Problem) Reassign(x framework.Point) (moved bool, passes float64, err error) {
	if p.Shape().S == 0 {
		return false, 0, nil
	}
	if p.together == nil {
		return p.Objective.Reassign(x)
	}
	near := x.Clone()
	moved, passes, err = p.Objective.Reassign(near)
	if err != nil {
		return false, passes, err
	}
	if moved {
		worth, err := p.worthReassigning(x, near)
		passes += 2
		if err != nil {
			return false, passes, err
		}
		if worth {
			copy(x[BlockTau], near[BlockTau])
			return true, passes, nil
		}
	}
	together, more, err := p.together(p, x)
	if err == nil && moved && !together {
		copy(x[BlockTau], near[BlockTau])
	}
	if err != nil || moved || together {
		return moved || together, passes + more, err
	}
	again, work, err := p.bendAgain(x)
	return again, passes + more + work, err
}

func (p *Problem) worthReassigning(from, to framework.Point) (bool, error) {
	before, err := p.Evaluate(nil, from)
	if err != nil {
		return false, err
	}
	after, err := p.Evaluate(nil, to)
	return framework.WorthReassigning(before, after), err
}

// examined is what examinations of a run have tried already.
type examined struct {
	Tried     triedSets
	BentAgain bool
}

// MarshalState implements framework.Stateful: what examinations have tried.
func (p *Problem) MarshalState() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(examined{p.tried, p.bentAgain})
	return b.Bytes(), err
}

// UnmarshalState implements framework.Stateful.
func (p *Problem) UnmarshalState(state []byte) error {
	var s examined
	if err := gob.NewDecoder(bytes.NewReader(state)).Decode(&s); err != nil {
		return fmt.Errorf("scqm: %w", err)
	}
	p.tried, p.bentAgain = s.Tried, s.BentAgain
	return nil
}

// KKT holds the norms of the first-order system at a point, per sample: of the
// gradients with respect to c, Q (Riemannian) and Theta divided by n, and the
// mean norm of the gradients with respect to tau_i. The unit is that of the
// loss's derivatives.
type KKT struct {
	C     float64 `json:"c"`
	Q     float64 `json:"Q"`
	Theta float64 `json:"Theta"`
	Tau   float64 `json:"tau"`
}

// KKT computes the norms of the first-order system at x.
func (p *Problem) KKT(x framework.Point) (KKT, error) {
	k, err := p.Objective.KKT(x)
	return KKT(k), err
}
