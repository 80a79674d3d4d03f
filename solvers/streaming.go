package solvers

import "github.com/scqm/scqm/framework"

// Streaming is the solver of fits whose rows need not be in memory: [Alternating] where
// the problem can sweep, else [LBFGS] by first derivatives alone, with kinks rounded
// less and less and no finish by second derivatives. Models that can be fitted block by
// block (see scqm.LearnFrom) are fitted so with it even where their rows are in memory,
// to the same bits.
type Streaming struct{}

// Name returns "streaming".
func (Streaming) Name() string { return "streaming" }

// Lacks implements [framework.Selective]: every problem has first derivatives.
func (Streaming) Lacks(framework.Problem) string { return "" }

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
	return Continuation{Inner: LBFGS{FirstOrder: true}}
}

// Init begins the solver that runs.
func (s Streaming) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	return s.inner(e).Init(e, x)
}

// Step does one iteration of it.
func (s Streaming) Step(e *framework.Evaluator, state framework.State) error {
	return s.inner(e).Step(e, state)
}
