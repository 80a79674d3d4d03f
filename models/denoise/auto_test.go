package denoise

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/denoise/internal/core"
)

// TestScaleStaysUp: in many directions of noise, a loss cut off too early drops
// all neighbours of a row but not the row, and then finds no noise.
func TestScaleStaysUp(t *testing.T) {
	needSpeed(t)
	s := surfaceSample(1000, 600, 20, .05, 2, widePoint)
	m := Auto{Latent: 2, Neighbors: 48}
	d, err := fitCharts(context.Background(), m, planeOf(t, m, s.x, Options{}), s.x, Options{})
	require.NoError(t, err)
	require.InDelta(t, .05, d.prepared.Fitted.(*autoFit).setting.Scale, .006)
}

// TestScaleInDenseClouds: where the neighbourhoods of the pilot are hardly larger
// than the noise, they move with their rows, which must not pass for noise that is
// not there.
func TestScaleInDenseClouds(t *testing.T) {
	needSpeed(t)
	s := surfaceSample(3000, 4000, 3, .11, 2, torusPoint)
	c, err := core.NewCloud(s.x)
	require.NoError(t, err)
	p, _, err := newPilot(context.Background(), Auto{Latent: 2}, c, Options{})
	require.NoError(t, err)
	require.Greater(t, p.setting.Scale, .7*.11)
	require.Less(t, p.setting.Scale, 1.2*.11)
}
