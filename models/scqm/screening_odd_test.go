package scqm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// Rows whose sample has no weight, a matrix in R^400, a solver that cannot fit flat sheets and one gross row
// are judged without harm.
func TestTrialsOfOddRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 70))
	skewed := func(n, D int) Data {
		x := Data{N: n, D: D, X: make([]float64, n*D)}
		for i := range x.X {
			x.X[i] = math.Exp(rng.NormFloat64())
		}
		return x
	}
	every := skewed(4400, 3)
	every.Weights = make([]float64, every.N)
	for i := range every.Weights {
		every.Weights[i] = float64(i % 2)
	}
	for name, c := range map[string]struct {
		x Data
		c Config
	}{
		"weights": {every, Config{Latent: 1, Loss: losses.L2(), Solver: solvers.Streaming{}}},
		"matrix":  {skewed(60, 200), Config{Latent: 1, Loss: correlated(t, 200)}},
	} {
		fit, err := Learn(t.Context(), c.x, c.c)
		require.NoError(t, err, name)
		meta := fit.Model.Meta
		require.NotNil(t, meta.Evidence, name)
		assert.Equal(t, meta.Effective == 0, meta.Evidence.Verdict == Flat, name)
		assert.Equal(t, meta.Effective == 0, meta.Ridge == 0, name)
	}

	gross := strongSheet(2, 300, 10, 1, 1, 0.05)
	want, err := Learn(t.Context(), gross, Config{Latent: 1, Loss: losses.L2()})
	require.NoError(t, err)
	gross.Row(7)[9] = 100
	got, err := Learn(t.Context(), gross, Config{Latent: 1, Loss: losses.L2()})
	require.NoError(t, err)
	assert.Equal(t, Curved, want.Model.Meta.Evidence.Verdict)
	assert.Equal(t, Curved, got.Model.Meta.Evidence.Verdict)
}
