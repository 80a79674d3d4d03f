package denoise

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPooledCurvature: the curvature of a sphere is pooled, in tiles with the same bits; that of a cube is not.
func TestPooledCurvature(t *testing.T) {
	needSpeed(t)
	ctx, o := context.Background(), Options{Reach: math.Inf(1)}
	s := sphereSample(6, 300, .05)
	d, err := Fit(ctx, Auto{Latent: 2}, s.x, o)
	require.NoError(t, err)
	require.True(t, d.prepared.Fitted.(*autoFit).setting.drawn)
	whole, err := d.Denoise(ctx, s.x, o)
	require.NoError(t, err)
	parts, _, err := InTiles(ctx, Auto{Latent: 2}, s.x, s.x, 3, Tiling{Halo: -1}, o)
	require.NoError(t, err)
	require.Equal(t, whole.X, parts.X)

	rng := rand.New(rand.NewPCG(6, 5))
	cube := s.x
	cube.N, cube.X = 1000, nil
	for range cube.N {
		r := []float64{rng.Float64() - .5, rng.Float64() - .5, rng.Float64() - .5}
		face := rng.IntN(6)
		r[face/2] = float64(face%2) - .5
		for _, v := range r {
			cube.X = append(cube.X, v+.01*rng.NormFloat64())
		}
	}
	d, err = Fit(ctx, Auto{Latent: 2}, cube, o)
	require.NoError(t, err)
	require.False(t, d.prepared.Fitted.(*autoFit).setting.drawn)
}
