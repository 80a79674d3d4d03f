package scqm

import (
	"context"
	"math"
	"math/rand/v2"
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

// With missing entries the prior of tau tells such shifts apart.
func TestFlatSheetsWithGapsConverge(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	x := Data{N: 60, D: 6, X: make([]float64, 360)}
	for i := range x.N {
		a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		for j, v := range []float64{a, b, c, a + b, b - c, a - 2*c} {
			if x.X[i*x.D+j] = v + 0.3*rng.NormFloat64(); rng.Float64() < 0.15 {
				x.X[i*x.D+j] = math.NaN()
			}
		}
	}
	fit, err := Learn(context.Background(), x, Config{Latent: 3, Linear: true, Loss: losses.SquaredL2(), IgnoreMissing: true})
	require.NoError(t, err)
	assert.Equal(t, framework.Converged, fit.Run.Status, fit.Run.Message)
}
