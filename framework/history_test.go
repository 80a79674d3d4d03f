package framework_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/solvers"
)

// silent is gradient descent that does not tell its gradient.
type silent struct{ solvers.RGD }

type silentState struct{ framework.State }

func (s silent) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	state, err := s.RGD.Init(e, x)
	return silentState{state}, err
}

func (s silent) Step(e *framework.Evaluator, state framework.State) error {
	return s.RGD.Step(e, state.(silentState).State)
}

// TestHistory compares what observers see with the history.
func TestHistory(t *testing.T) {
	c := frameworktest.SolverCases()[0]
	for solver, graded := range map[framework.Solver]bool{solvers.LBFGS{}: true, solvers.RGD{}: true, silent{}: false} {
		var seen []framework.Record
		result, err := framework.Solve(t.Context(), c.New(), c.Start, solver, framework.Options{
			Observers: []func(framework.Record){func(r framework.Record) {
				_, cost := r.State.Iterate()
				assert.Equal(t, cost, r.Cost)
				seen = append(seen, r)
			}}})
		require.NoError(t, err)
		require.Len(t, seen, len(result.History))
		for i, r := range result.History {
			assert.Nil(t, r.State)
			assert.Equal(t, seen[i].Passes, r.Passes)
			assert.Equal(t, i, r.Iteration)
			assert.Equal(t, graded, !math.IsNaN(r.GradientNorm))
		}
	}
}
