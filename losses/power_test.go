package losses

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// With the noise itself, the estimate is within two standard errors of the truth
// about as often as that should be, and these are of the right size.
func TestEstimatePower(t *testing.T) {
	for _, p := range []float64{1, 1.25, 1.5, 2, 4} {
		var z []float64
		for seed := range uint64(12) {
			e := make([]float64, 1500)
			require.NoError(t, GeneralizedGaussianNoise(e, p, 0.3, rand.New(rand.NewPCG(seed, 2))))
			got, err := EstimatePower(e, nil)
			require.NoError(t, err)
			z = append(z, (got.P-p)/got.PError)
			assert.InDelta(t, 0.3, got.Scale, 0.08)
		}
		spread := floats.Norm(z, 2) / math.Sqrt(float64(len(z)))
		assert.True(t, spread > 0.5 && spread < 1.6, "p = %v: %v", p, z)
	}
}

// Residuals are noise without its part along a plane of dimension d in R^D, which
// a fit takes away.
func TestEstimatePowerOfResiduals(t *testing.T) {
	for _, p := range []float64{1, 1.25, 1.5, 2} {
		for _, D := range []int{10, 20} {
			e, parts := residuals(t, p, D, 2, 300)
			got, err := EstimatePower(e, parts)
			require.NoError(t, err)
			t.Logf("p = %v, D = %d: %+v", p, D, got)
			assert.InDelta(t, p, got.P, 2*got.PError, "p = %v, D = %d", p, D)
			assert.Less(t, got.PError, 0.3)
		}
	}
}

func residuals(t *testing.T, p float64, D, d, n int) (e, parts []float64) {
	rng := rand.New(rand.NewPCG(1, 7))
	e = make([]float64, n*D)
	require.NoError(t, GeneralizedGaussianNoise(e, p, 1, rng))
	var frame [][]float64
	for len(frame) < d {
		u := make([]float64, D)
		for j := range u {
			u[j] = rng.NormFloat64()
		}
		for _, v := range frame {
			floats.AddScaled(u, -floats.Dot(u, v), v)
		}
		floats.Scale(1/floats.Norm(u, 2), u)
		frame = append(frame, u)
	}
	for i := range n {
		r := e[i*D : (i+1)*D]
		for _, u := range frame {
			floats.AddScaled(r, -floats.Dot(r, u), u)
		}
		for j := range D {
			parts = append(parts, 1)
			for _, u := range frame {
				parts[i*D+j] -= u[j] * u[j]
			}
		}
	}
	return e, parts
}

func TestEstimatePowerRefusals(t *testing.T) {
	_, err := EstimatePower(make([]float64, 100), nil)
	require.ErrorIs(t, err, ErrResiduals)
	_, err = EstimatePower([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, []float64{1})
	require.ErrorIs(t, err, ErrResiduals)
	_, err = EstimatePower([]float64{1, 2}, []float64{1, 1})
	require.ErrorIs(t, err, ErrResiduals)
}
