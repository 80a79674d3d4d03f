package denoise

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLinearBesideBent: charts of a sheet in many columns are not turned down for a linear model by the chance of few rows.
func TestLinearBesideBent(t *testing.T) {
	if testing.Short() {
		t.Skip("3 s: auto on 600 rows of 20 columns; make test runs it")
	}
	needSpeed(t)
	s := surfaceSample(7006, 600, 20, .05, 2, widePoint)
	d, err := Fit(context.Background(), Auto{Latent: 2}, s.x, Options{})
	require.NoError(t, err)
	require.Empty(t, d.Note())
	require.Equal(t, "auto", d.Method().Name())
}
