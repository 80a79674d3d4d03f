package solvers

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

// Streaming is the solver of fits whose rows need not be in memory: [Alternating] where the problem can sweep,
// else [Newton] with at most 320 outer coordinates, and [LBFGS] by first derivatives alone with more, each in a
// [Continuation] of smoothed kinks. Models that can be fitted block by block (see scqm.LearnFrom) are fitted so
// with it even where their rows are in memory, to the same bits.
type Streaming struct{}

// streamedTolerance is the tolerance of the last continuation step with Newton's method: it must reach the
// minimum of the smoothed cost, as no polish follows.
const streamedTolerance = 1e-12

// StreamedOuter is the number of outer coordinates up to which summing second derivatives takes less time than
// the additional reads of a first-order method.
const StreamedOuter = 320

// Name returns "streaming".
func (Streaming) Name() string { return "streaming" }

// BlockSummer is a problem that accesses its data through sums over blocks of rows only.
type BlockSummer interface {
	// SumsBlocks does nothing.
	SumsBlocks()
}

// Lacks implements [framework.Solver]: any other problem is served better by
// [Alternating] or [LBFGS].
func (Streaming) Lacks(p framework.Problem) string {
	if _, ok := p.(BlockSummer); ok {
		return ""
	}
	return "sums over blocks of rows (BlockSummer), as fits of the model scqm have"
}

// NewState returns an empty state for a stored run.
func (Streaming) NewState() framework.State {
	Continuation{Inner: Alternating{}}.NewState()
	return Continuation{Inner: LBFGS{}}.NewState()
}

// inner is the solver that Streaming runs.
func (Streaming) inner(e *framework.Evaluator) Continuation {
	if len(latent.OuterBlocks(e)) > 0 {
		return Continuation{Inner: Alternating{}}
	}
	if shape, fits := latent.ShapeOf(e); fits && shape.Outer <= StreamedOuter {
		return Continuation{Inner: Newton{}, LastTolerance: streamedTolerance}
	}
	return Continuation{Inner: LBFGS{FirstOrder: true}}
}

// Init starts that solver.
func (s Streaming) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	if err := Supports(s, e.Problem()); err != nil {
		return nil, err
	}
	return s.inner(e).Init(e, x)
}

// Step does one iteration of that solver.
func (s Streaming) Step(e *framework.Evaluator, state framework.State) error {
	return s.inner(e).Step(e, state)
}
