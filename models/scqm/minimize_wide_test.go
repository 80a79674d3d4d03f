package scqm

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// Newton's method ends fits under l1 of rows too wide for its matrices, lower than the solver that runs before it and with a
// certificate.
func TestNewtonEndsWideFits(t *testing.T) {
	x := digits(t, 12, "4", "9")
	before := learn(t, x, Config{Latent: 1, Loss: losses.L1()})
	require.Equal(t, framework.Stalled, before.Run.Status)
	after := learn(t, x, Config{Latent: 1, Loss: losses.L1(), Solver: solvers.Continuation{Inner: solvers.Newton{}}})
	require.Equal(t, framework.Converged, after.Run.Status, after.Run.Message)
	assert.Contains(t, after.Run.Solver, "then newton")
	assert.Less(t, after.Run.Cost, before.Run.Cost)
	for _, v := range after.Run.Stationarity {
		assert.LessOrEqual(t, v, 1e-6)
	}
}

// The columns end fits under l1 without weights, and no others.
func TestWideFitIsRefusedUnderOtherLosses(t *testing.T) {
	x := digits(t, 12, "4", "9")
	_, err := Learn(context.Background(), x, Config{Latent: 1, Loss: losses.L2(), Solver: solvers.Newton{}})
	require.ErrorIs(t, err, ErrInput)
	weights := make([]float64, x.N)
	for i := range weights {
		weights[i] = float64(1 + i%2)
	}
	x.Weights = weights
	_, err = Learn(context.Background(), x, Config{Latent: 1, Loss: losses.L1(), Solver: solvers.Newton{}})
	require.ErrorIs(t, err, ErrInput)
}
