package denoise

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/denoise/internal/lookup"
)

// TestShrinkage: distances of rows from charts that they pull towards themselves,
// divided by the shrinkage, have the variance of the noise in q directions,
// however strong the pull.
func TestShrinkage(t *testing.T) {
	const n, D, sigma = 40, 5, 0.01
	rng := rand.New(rand.NewPCG(1, 2))
	for _, own := range []float64{1, 20} {
		var raw, mean float64
		c := newChart(D, 1)
		x, prior, ones := make([]float64, n*D), make([]float64, n), slices.Repeat([]float64{1}, n)
		for range 400 {
			for i := range n {
				prior[i] = 1
				for j := range D {
					x[i*D+j] = sigma * rng.NormFloat64()
				}
				x[i*D] += float64(i-n/2) / n
			}
			prior[n/2] = own
			foot, at := make([]float64, D), make([]float64, D)
			pivot := x[n/2*D : (n/2+1)*D]
			rows := chartRows{x: x, near: x, prior: prior, trust: ones, next: 0.6, l: make([]float64, n)}
			for i := range n {
				far := distance(x[i*D:(i+1)*D], at)
				rows.found = append(rows.found, lookup.Near{Distance: far * far, Row: i})
			}
			require.True(t, c.prepare(at, pivot, &rows, &setting{cut: math.Inf(1), rounds: 3}))
			require.True(t, c.solve(0))
			require.True(t, c.foot(foot, pivot))
			c.influences(rows.l)
			far := distance(pivot, foot)
			raw += far * far / 400
			far /= shrinkage(rows.l, n/2)
			mean += far * far / 400
		}
		require.Less(t, raw, 0.92*(D-1)*sigma*sigma)
		require.InDelta(t, 1, mean/((D-1)*sigma*sigma), 0.1, "weight %v", own)
	}
}

// TestScaleStaysUp: in many directions of noise, a loss cut off too early drops
// all neighbours of a row but not the row, and then finds no noise.
func TestScaleStaysUp(t *testing.T) {
	needSpeed(t)
	s := surfaceSample(1000, 600, 20, .05, 2, widePoint)
	m := Auto{Latent: 2, Neighbors: 48}
	d, err := fitCharts(context.Background(), m, planeOf(t, m, s.x, Options{}), s.x, Options{})
	require.NoError(t, err)
	require.InDelta(t, .05, d.fitted.(*autoFit).setting.scale, .006)
}

// TestScaleInDenseClouds: where the neighbourhoods of the pilot are hardly larger
// than the noise, they move with their rows, which must not pass for noise that is
// not there.
func TestScaleInDenseClouds(t *testing.T) {
	needSpeed(t)
	s := surfaceSample(3000, 4000, 3, .11, 2, torusPoint)
	c, err := newCloud(s.x)
	require.NoError(t, err)
	p, _, err := newPilot(context.Background(), Auto{Latent: 2}, c, Options{})
	require.NoError(t, err)
	require.Greater(t, p.setting.scale, .7*.11)
	require.Less(t, p.setting.scale, 1.2*.11)
}
