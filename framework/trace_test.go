package framework_test

import (
	"context"
	"encoding/csv"
	"errors"
	"strconv"
	"strings"
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

// TestTrace reads a trace back and compares it with the result.
func TestTrace(t *testing.T) {
	c := frameworktest.SolverCases()[0]
	for solver, graded := range map[framework.Solver]bool{solvers.LBFGS{}: true, solvers.RGD{}: true, silent{}: false} {
		var out strings.Builder
		trace := framework.NewTrace(&out)
		result, err := framework.Solve(context.Background(), c.New(), c.Start, solver,
			framework.Options{Observers: []framework.Observer{trace.Observe}})
		require.NoError(t, err)
		require.NoError(t, trace.Err())
		lines, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
		require.NoError(t, err)
		require.Len(t, lines, len(result.History)+1)
		for i, r := range result.History {
			line := lines[i+1]
			assert.Equal(t, strconv.Itoa(r.Iteration), line[0])
			for field, want := range map[int]float64{1: r.Cost, 5: r.Passes} {
				got, err := strconv.ParseFloat(line[field], 64)
				require.NoError(t, err)
				assert.Equal(t, want, got)
			}
			assert.Equal(t, graded, line[2] != "", line)
		}
	}
}

// full is a disk without room.
type full struct{ lines int }

func (f *full) Write(p []byte) (int, error) {
	if f.lines++; f.lines > 2 {
		return 0, errors.New("no space left")
	}
	return len(p), nil
}

// TestTraceOnAFullDisk lets the run go on and tells afterwards.
func TestTraceOnAFullDisk(t *testing.T) {
	c := frameworktest.SolverCases()[0]
	f := &full{}
	trace := framework.NewTrace(f)
	result, err := framework.Solve(context.Background(), c.New(), c.Start, solvers.LBFGS{},
		framework.Options{Observers: []framework.Observer{trace.Observe}})
	require.NoError(t, err)
	assert.Equal(t, framework.Converged, result.Status)
	assert.ErrorContains(t, trace.Err(), "framework: trace: no space left")
	assert.Equal(t, 3, f.lines)
}
