package denoise

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/rows"
)

// slabRows are rows of the surface of a box of sides 1, 1 and thick, of unit diagonal, with noise, and what
// returns the root mean square distance from it.
func slabRows(seed uint64, n int, thick, noise float64) (x rows.Data, off func(y []float64) float64) {
	m := boxMesh(1, 1, thick)
	m.scale()
	rng := rand.New(rand.NewPCG(seed, 7))
	x = rows.Data{N: n, D: 3}
	for _, p := range m.sample(n, rng, nil) {
		for _, v := range p {
			x.X = append(x.X, v+noise*rng.NormFloat64())
		}
	}
	near := newMeshIndex(m, .02)
	return x, func(y []float64) float64 {
		var sum float64
		for i := range n {
			v := near.far([3]float64(y[3*i : 3*i+3]))
			sum += v * v / float64(n)
		}
		return math.Sqrt(sum)
	}
}

// TestThinSheets wants both sides of a sheet, ten standard deviations of the noise thick, kept apart: charts
// of the usual number of rows see both. In tiles it is the same.
func TestThinSheets(t *testing.T) {
	needSpeed(t)
	x, off := slabRows(11, 1500, .09, .006)
	d, err := Fit(context.Background(), Auto{Latent: 2}, x, Options{})
	require.NoError(t, err)
	require.Positive(t, d.fitted.(*autoFit).setting.start)
	require.InDelta(t, .006, d.fitted.(*autoFit).setting.scale, .001)
	r, err := d.Denoise(context.Background(), x, Options{})
	require.NoError(t, err)
	require.Less(t, off(r.X), .75*off(x.X))
	got, _, err := inTiles(Auto{Latent: 2}, x, 3, .1, Options{})
	require.NoError(t, err)
	require.Equal(t, r.X, got.X)
	require.Equal(t, r.Rows, got.Rows)
}

// TestBetweenSheets: where rows are too few to tell the sides of a sheet, they stay.
func TestBetweenSheets(t *testing.T) {
	needSpeed(t)
	x, _ := slabRows(12, 700, .035, .003)
	d, err := Fit(context.Background(), Auto{Latent: 2}, x, Options{})
	require.NoError(t, err)
	require.Equal(t, betweenSheets, d.Note())
	r, err := d.Denoise(context.Background(), x, Options{})
	require.NoError(t, err)
	require.Equal(t, x.X, r.X)
	for _, row := range r.Rows {
		require.True(t, row.Unchanged)
	}
	got, _, err := inTiles(Auto{Latent: 2}, x, 3, .1, Options{})
	require.NoError(t, err)
	require.Equal(t, r.Rows, got.Rows)
	// Noise that is as likely anywhere within its bounds has no two peaks.
	rng := rand.New(rand.NewPCG(13, 13))
	flat := rows.Data{N: 600, D: 3, X: make([]float64, 1800)}
	for i := range flat.N {
		copy(flat.Row(i), []float64{rng.Float64(), rng.Float64(), .05 * rng.Float64()})
	}
	d, err = Fit(context.Background(), Auto{Latent: 2}, flat, Options{})
	require.NoError(t, err)
	require.Empty(t, d.Note())
}

// TestBetweenSheetsAmongOutliers: outliers do not hide that rows are on two sheets.
func TestBetweenSheetsAmongOutliers(t *testing.T) {
	needSpeed(t)
	x, _ := slabRows(14, 1000, .028, .0025)
	rng := rand.New(rand.NewPCG(14, 14))
	for i := 0; i < x.N; i += 5 {
		copy(x.Row(i), []float64{.8 * rng.Float64(), .8 * rng.Float64(), .2 * (rng.Float64() - .5)})
	}
	d, err := Fit(context.Background(), Auto{Latent: 2}, x, Options{})
	require.NoError(t, err)
	require.Equal(t, betweenSheets, d.Note())
}

// TestTwoPeaks draws distances from surfaces of which it is known whether they are between two sheets.
func TestTwoPeaks(t *testing.T) {
	const n = 4000
	rng := rand.New(rand.NewPCG(15, 15))
	for name, c := range map[string]struct {
		draw func() float64
		want bool
	}{
		"normal":              {rng.NormFloat64, false},
		"even":                {func() float64 { return 2*rng.Float64() - 1 }, false},
		"sheets 3 apart":      {func() float64 { return 1.5 + rng.NormFloat64() }, false},
		"sheets 5 apart":      {func() float64 { return 2.5 + rng.NormFloat64() }, true},
		"the same, outliers":  {func() float64 { return []float64{2.5, 2.5, 2.5, 2.5, 30}[rng.IntN(5)] + rng.NormFloat64() }, true},
		"normal and outliers": {func() float64 { return []float64{1, 1, 1, 1, 30}[rng.IntN(5)] * rng.NormFloat64() }, false},
	} {
		far := make([]float64, n)
		for i := range far {
			far[i] = math.Abs(c.draw())
		}
		require.Equal(t, c.want, twoPeaks(far, n), name)
		require.False(t, twoPeaks(far[:20], 20), "20 rows tell nothing")
	}
	require.False(t, twoPeaks(nil, 0))
}
