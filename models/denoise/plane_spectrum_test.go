package denoise

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/models/denoise/internal/principal"
	"github.com/scqm/scqm/models/rows"
)

// fallingRows have normal coordinates along all axes, whose variance falls without an end, and noise of 1.
func fallingRows(seed uint64, n, D int) sample {
	spread := make([]float64, D)
	for a := range spread {
		spread[a] = 12 / math.Pow(float64(a+1), 0.7)
	}
	s := sample{x: linearRows(seed, n, D, spread...), clean: rows.Data{N: n, D: D}}
	s.clean.X = normalRows(seed, n, D)
	floats.SubTo(s.clean.X, s.x.X, s.clean.X)
	return s
}

// withBackground are rows with columns beside theirs that have nothing but noise.
func withBackground(s sample, columns int) sample {
	n, D := s.x.N, s.x.D+columns
	out := sample{x: rows.Data{N: n, D: D, X: normalRows(6, n, D)}, clean: rows.Data{N: n, D: D, X: make([]float64, n*D)}}
	for i := range n {
		copy(out.x.Row(i), s.x.Row(i))
		copy(out.clean.Row(i), s.clean.Row(i))
	}
	return out
}

// TestSpectrumIsTaken: where the variance falls without an end, auto keeps in part what is below the edge of noise, says so, and comes
// nearer than by the axes that are more than noise, with the same bits for a row alone and by any number of threads.
func TestSpectrumIsTaken(t *testing.T) {
	s := withBackground(fallingRows(21, 300, 160), 80)
	var all [2]*Result
	for k, threads := range []int{1, 3} {
		d, err := Fit(context.Background(), Auto{Latent: 2}, s.x, Options{Threads: threads})
		require.NoError(t, err)
		require.Contains(t, d.Note(), "a linear model is better here")
		require.Greater(t, d.Axes(), 100)
		all[k], err = d.Denoise(context.Background(), s.x, Options{Threads: threads})
		require.NoError(t, err)
		alone, err := d.Denoise(context.Background(), rows.Data{N: 1, D: 240, X: s.x.Row(7)}, Options{})
		require.NoError(t, err)
		require.Equal(t, all[k].X[7*240:8*240], alone.X)
	}
	require.Equal(t, all[0], all[1])
	require.Less(t, s.meanSquare(all[0].X), 0.97*s.meanSquare(run(t, principal.PCA{}, s.x, Options{}).X))
}

// TestNoiseOnly: of rows that are nothing but noise auto says that no axis is more, and leaves next to nothing of them; a
// sphere whose axes neighbours alone tell is no such rows.
func TestNoiseOnly(t *testing.T) {
	for seed := range uint64(3) {
		x := linearRows(seed+40, 300, 200)
		d, err := Fit(context.Background(), Auto{Latent: 2}, x, Options{})
		require.NoError(t, err)
		require.Contains(t, d.Note(), "no principal axis is more than noise")
		require.Equal(t, principal.PCA{}.Name(), d.Method().Name())
		s := sample{x: x, clean: rows.Data{N: x.N, D: x.D, X: make([]float64, len(x.X))}}
		require.Less(t, s.meanSquare(run(t, Auto{Latent: 2}, x, Options{}).X), 0.01*200)
	}
	d, err := Fit(context.Background(), Auto{Latent: 2}, wideSphere(9, 200, 30, 0.05).x, Options{})
	require.NoError(t, err)
	require.NotContains(t, d.Note(), "no principal axis is more than noise")
}
