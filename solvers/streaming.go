package solvers

import "github.com/scqm/scqm/framework"

// Streaming is the solver of fits whose rows need not be in memory: [Alternating] where
// the problem can sweep, else [Newton] with at most 320 outer coordinates, and [LBFGS] by
// first derivatives alone with more, each with kinks rounded less and less. Models that can be fitted block by
// block (see scqm.LearnFrom) are fitted so with it even where their rows are in memory,
// to the same bits.
type Streaming struct{}

// streamedTolerance ends the last stage where Newton's method has come to the minimum of
// the rounded cost, and not before: there is no finish that takes over.
const streamedTolerance = 1e-12

// conditionedTolerance ends the first stage where there is a preconditioner: an iteration
// is one read then, and stages that end early leave the next one far from its minimum.
const conditionedTolerance = 1e-5

// StreamedOuter is the order of second derivatives up to which their sums over all rows
// take less time than the further reads of a method without them.
const StreamedOuter = 320

// Name returns "streaming".
func (Streaming) Name() string { return "streaming" }

// BlockSummer is a problem that sees its data through sums over blocks of rows only.
type BlockSummer interface {
	// SumsBlocks does nothing.
	SumsBlocks()
}

// Lacks implements [framework.Selective]: any other problem is served better by
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

// inner is what runs.
func (Streaming) inner(e *framework.Evaluator) Continuation {
	if len(e.OuterBlocks()) > 0 {
		return Continuation{Inner: Alternating{}}
	}
	if shape, fits := e.ArrowheadShape(); fits && shape.Outer <= StreamedOuter {
		return Continuation{Inner: Newton{}, LastTolerance: streamedTolerance}
	}
	a := Continuation{Inner: LBFGS{FirstOrder: true}}
	if _, conditioned := e.Problem().(framework.Preconditioner); conditioned {
		a.FirstTolerance = conditionedTolerance
	}
	return a
}

// Init begins the solver that runs.
func (s Streaming) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	if err := Supports(s, e.Problem()); err != nil {
		return nil, err
	}
	return s.inner(e).Init(e, x)
}

// Step does one iteration of it.
func (s Streaming) Step(e *framework.Evaluator, state framework.State) error {
	return s.inner(e).Step(e, state)
}
