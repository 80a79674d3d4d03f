package bindings

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/solvers/constrained"
)

// constrainedThrough is the problem of through with x_0 + t >= 2 and t <= 1.5.
func constrainedThrough(t *testing.T, failAt int) (*pythonProblem, constrained.Problem, *int) {
	_, p, calls := through(t, failAt)
	copy(p.iterate, sphereStart)
	c := pythonConstraints{pythonProblem: p, values: make([]float64, 1), weights: make([]float64, 1), lower: []float64{2}, upper: []float64{math.Inf(1)}}
	counted := func(f func()) goFunction {
		return func() (float64, error) {
			if *calls++; *calls == failAt {
				return 0, errTest
			}
			f()
			return 0, nil
		}
	}
	c.evaluate = counted(func() { c.values[0] = p.x[0] + p.x[4] })
	c.transposed = counted(func() {
		clear(p.grad)
		p.grad[0], p.grad[4] = c.weights[0], c.weights[0]
	})
	return p, constrained.Box{Problem: c, Upper: framework.Point{nil, {1.5}}}, calls
}

func TestMinimizeConstrained(t *testing.T) {
	for _, solver := range []string{"auto", "trust_region"} {
		p, c, _ := constrainedThrough(t, 0)
		text, err := sphereSettings(solver).minimize(p, c)
		require.NoError(t, err)
		var got struct {
			Status      string
			Violation   float64
			Multipliers []float64
		}
		require.NoError(t, json.Unmarshal([]byte(text), &got))
		assert.Equal(t, "converged", got.Status, text)
		assert.Less(t, got.Violation, 1e-8)
		require.Len(t, got.Multipliers, 2)
		assert.InDelta(t, 2, p.iterate[0]+p.iterate[4], 1e-8)
		assert.LessOrEqual(t, p.iterate[4], 1.5+1e-8)
	}
}

// TestConstraintsFail has each of the calls of a run fail in turn.
func TestConstraintsFail(t *testing.T) {
	for failAt := 1; ; failAt += 7 {
		p, c, calls := constrainedThrough(t, failAt)
		text, err := sphereSettings("lbfgs").minimize(p, c)
		require.NoError(t, err)
		if *calls < failAt {
			require.NotEmpty(t, text)
			require.Greater(t, failAt, 50)
			return
		}
		require.Empty(t, text)
		require.ErrorIs(t, p.failure, errTest)
		require.Equal(t, failAt, *calls)
	}
}
