package scqm

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNearestIsProject(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"l2", "l1", "mahalanobis"} {
		x := sphereNeighbours(3, 300, 30, 0, 0.06)
		loss := named(t, name, 3)
		fitter, err := NewFitter(ctx, x.N, x.D, Config{Latent: 2, Loss: loss, Ridge: 10})
		require.NoError(t, err)
		var m Model
		_, err = fitter.Fit(&m, x)
		require.NoError(t, err)
		want, err := m.Project(ctx, x, 1)
		require.NoError(t, err)
		nearest, err := NewNearest(3, 2, 1, loss)
		require.NoError(t, err)
		require.NoError(t, nearest.Load(&m))
		got := make([]float64, 3)
		for i := range x.N {
			require.NoError(t, nearest.Project(ctx, got, x.Row(i)))
			require.Equal(t, want[3*i:3*i+3], got, "%s, row %d", name, i)
		}
		if name == "l2" {
			require.Zero(t, testing.AllocsPerRun(20, func() { _ = nearest.Project(ctx, got, x.Row(0)) }))
		}
	}
}

func TestNearestRefuses(t *testing.T) {
	ctx := context.Background()
	_, err := NewNearest(3, 2, 2, named(t, "l2", 3))
	require.ErrorIs(t, err, ErrInput)
	n, err := NewNearest(3, 2, 1, named(t, "l2", 3))
	require.NoError(t, err)
	require.ErrorIs(t, n.Load(&Model{D: 3, Latent: 1}), ErrInput)
	require.ErrorIs(t, n.Project(ctx, make([]float64, 3), make([]float64, 2)), ErrInput)
}
