package denoise

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/models/denoise/internal/principal"
	"github.com/scqm/scqm/models/rows"
)

// bundles are rows of several bundles, each about a plane of three axes of its own, with noise of 1.
func bundles(seed uint64, n, D, count int) sample {
	s := sample{x: rows.Data{N: n, D: D, X: normalRows(seed, n, D)}, clean: rows.Data{N: n, D: D, X: make([]float64, n*D)}}
	axes, along := normalRows(seed+1, 3*count, D), normalRows(seed+2, n, 3)
	centres := normalRows(seed+3, count, D)
	for i := range n {
		g := i % count
		floats.AddScaled(s.clean.Row(i), 4, centres[g*D:(g+1)*D])
		for a := range 3 {
			floats.AddScaled(s.clean.Row(i), along[3*i+a], axes[(3*g+a)*D:(3*g+a+1)*D])
		}
		floats.Add(s.x.Row(i), s.clean.Row(i))
	}
	return s
}

// TestLocalLinear wants principal components of near rows where rows are in bundles, better than
// those of all rows, with the error that is said, and the same bits alone and by any number of threads.
func TestLocalLinear(t *testing.T) {
	s := bundles(3, 480, 24, 4)
	var all [2]*Result
	for k, threads := range []int{1, 3} {
		d, err := Fit(context.Background(), Auto{Latent: 2}, s.x, Options{Threads: threads})
		require.NoError(t, err)
		require.Contains(t, d.Note(), "nearest rows")
		require.Equal(t, principal.PCA{}.Name(), d.Method().Name())
		all[k], err = d.Denoise(context.Background(), s.x, Options{Threads: threads})
		require.NoError(t, err)
		alone, err := d.Denoise(context.Background(), rows.Data{N: 1, D: 24, X: s.x.Row(7)}, Options{})
		require.NoError(t, err)
		require.Equal(t, all[k].X[7*24:8*24], alone.X)
	}
	require.Equal(t, all[0], all[1])
	near, overall := s.meanSquare(all[0].X), s.meanSquare(run(t, principal.PCA{}, s.x, Options{}).X)
	require.Less(t, near, 0.8*overall)
	_, l, err := findPlane(context.Background(), Auto{Latent: 2}, s.x, Options{})
	require.NoError(t, err)
	require.InDelta(t, 1, l.Noise, 0.05)
	require.InEpsilon(t, near, l.Risk, 0.3)
}
