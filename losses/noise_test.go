package losses

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// For the density exp(-|e/a|^p), |e/a|^p has mean 1/p and variance 1/p.
func TestGeneralizedGaussianNoise(t *testing.T) {
	const n, scale = 40000, 0.3
	e := make([]float64, n)
	for _, p := range []float64{0.7, 1, 1.25, 1.5, 2, 8} {
		require.NoError(t, GeneralizedGaussianNoise(e, p, scale, rand.New(rand.NewPCG(1, 2))))
		var mean, powers float64
		for _, v := range e {
			mean += v / n
			powers += math.Pow(math.Abs(v)/scale, p) / n
		}
		assert.InDelta(t, 1/p, powers, 4*math.Sqrt(1/p/n), "p = %v", p)
		assert.InDelta(t, 0, mean, 4*floats.Norm(e, 2)/n, "p = %v", p)
	}
}

// The norm has mean D and variance D in units of the scale, and the mean of
// r r' is a multiple of the identity.
func TestRadialLaplaceNoise(t *testing.T) {
	const n, D, scale = 20000, 3, 2.0
	e := make([]float64, n*D)
	require.NoError(t, RadialLaplaceNoise(e, D, scale, rand.New(rand.NewPCG(1, 2))))
	var norms float64
	second := make([]float64, D*D)
	for i := range n {
		r := e[i*D : (i+1)*D]
		norms += floats.Norm(r, 2) / n
		for a, v := range r {
			floats.AddScaled(second[a*D:(a+1)*D], v/n, r)
		}
	}
	assert.InDelta(t, D*scale, norms, 4*scale*math.Sqrt(D/float64(n)))
	for k, v := range second {
		want := 0.0
		if k%(D+1) == 0 {
			want = scale * scale * (D + 1) // E|r|^2 / D = D(D+1)/D
		}
		assert.InDelta(t, want, v, 0.06*scale*scale*(D+1))
	}
}

func TestNoiseRefusals(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	e := make([]float64, 4)
	for _, p := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		require.Error(t, GeneralizedGaussianNoise(e, p, 1, rng))
		require.Error(t, GeneralizedGaussianNoise(e, 2, math.Copysign(p, -1)-1, rng))
	}
	require.Error(t, RadialLaplaceNoise(e, 3, 1, rng))
	require.Error(t, RadialLaplaceNoise(e, 2, -1, rng))
}
