package scqm

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
)

// Shifts of a flat sheet along itself change nothing: Newton steps without bound along them once lost
// the digits of the objective.
func TestNewtonKeepsAFlatSheetInPlace(t *testing.T) {
	x := Data{N: 11, D: 3, X: []float64{
		1, 1, 2, 1, 0, 1, 1, 0, 2, 1, 1, 0, 0, 0, 2, 0, 1, 2, 0, 1, 1, 2, 2, 1, 0, 0, 2, 1, 2, 1, 0, 0, 2,
	}, Weights: []float64{1, 2, 0.002, 3, 2, 1000, 2, 1, 3, 2, 0}}
	loss, err := losses.Lp(3)
	require.NoError(t, err)
	fit, err := Learn(context.Background(), x, Config{Latent: 2, Linear: true, Loss: loss})
	require.NoError(t, err)
	assert.Equal(t, framework.Converged, fit.Run.Status, fit.Run.Message)
	assert.Less(t, floats.Norm(fit.Run.Point[BlockC], 2), 10.0)
	y, err := fit.Model.Reconstruct(context.Background(), fit.Model.Tau, 1)
	require.NoError(t, err)
	floats.Sub(y, x.X)
	values := make([]float64, x.N)
	require.NoError(t, loss.Evaluate(values, nil, y, x.D))
	assert.InEpsilon(t, fit.Model.Meta.Objective, floats.Dot(values, x.Weights), 1e-9)
}
