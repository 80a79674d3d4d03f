package scqm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
)

// The smallest deviation is that across a line, however it is turned and moved, and weights count.
func TestLeastDeviation(t *testing.T) {
	const wide, narrow = 3.0, 0.5
	c, s := math.Cos(0.4), math.Sin(0.4)
	var tau []float64
	for _, at := range [][2]float64{{wide, narrow}, {wide, -narrow}, {-wide, narrow}, {-wide, -narrow}} {
		tau = append(tau, 7+c*at[0]-s*at[1], 1e3+s*at[0]+c*at[1])
	}
	assert.InDelta(t, narrow, leastDeviation(tau, 2, nil), 1e-9)
	twice := append(slices.Clone(tau), tau...)
	assert.InDelta(t, leastDeviation(twice, 2, nil), leastDeviation(tau, 2, []float64{2, 2, 2, 2}), 1e-9)
	assert.InDelta(t, narrow, leastDeviation(tau, 2, []float64{1e-3, 1e-3, 1e-3, 1e-3}), 1e-9, "only ratios of weights count")
	for k := range tau {
		tau[k] *= 1e-200
	}
	assert.InDelta(t, narrow, 1e200*leastDeviation(tau, 2, nil), 1e-9)
	assert.Zero(t, leastDeviation(make([]float64, 6), 2, nil))
	assert.Zero(t, leastDeviation([]float64{1}, 1, nil))
}

// Rows near a surface are distinct, those in noise as wide as it are not; without vertices all are.
func TestDistinct(t *testing.T) {
	x := noisyParaboloid(rand.New(rand.NewPCG(7, 109)), 6, 2, 60)
	rng := rand.New(rand.NewPCG(8, 109))
	noise := Data{N: x.N, D: x.D, X: slices.Clone(x.X)}
	for k := range noise.X {
		noise.X[k] += 0.4 * rng.NormFloat64()
	}
	for _, c := range []struct {
		x        Data
		loss     framework.Loss
		distinct bool
	}{{x, losses.L1(), true}, {noise, losses.L1(), false}, {noise, losses.L2(), true}} {
		fit, err := learn(t, c.x, Config{Latent: 2, Loss: c.loss}).Model.refined(t.Context(), c.x, 1)
		require.NoError(t, err)
		distinct, err := fit.problem.Distinct(fit.at)
		require.NoError(t, err)
		assert.Equal(t, c.distinct, distinct, c.loss.Name())
	}
}
