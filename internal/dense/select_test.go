package dense

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// Select finds what sorting finds, among equal numbers too.
func TestSelect(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	for range 2000 {
		x := make([]float64, 1+rng.IntN(30))
		for i := range x {
			x[i] = float64(rng.IntN(1 + rng.IntN(40)))
		}
		k := rng.IntN(len(x))
		want := slices.Sorted(slices.Values(x))[k]
		require.Equal(t, want, Select(x, k))
	}
}

// Norm is that of gonum, for numbers whose squares vanish or overflow too.
func TestNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 4))
	for _, size := range []float64{0, 1e-300, 1e-160, 1, 1e160, 1e300} {
		x := make([]float64, 37)
		for i := range x {
			x[i] = size * rng.NormFloat64()
		}
		require.InEpsilon(t, floats.Norm(x, 2)+math.SmallestNonzeroFloat64, Norm(x)+math.SmallestNonzeroFloat64, 1e-15)
	}
	require.True(t, math.IsNaN(Norm([]float64{1, math.NaN()})))
}
