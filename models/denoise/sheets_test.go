package denoise

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/rows"
)

// slabRows are rows of the surface of a box of sides 1, 1 and thick, of unit diagonal, with noise, and what
// returns the root mean square distance from it. One row in five is anywhere near, and does not count, if so asked.
func slabRows(seed uint64, n int, thick, noise float64, outliers bool) (x rows.Data, off func(y []float64) float64) {
	m := boxMesh(1, 1, thick)
	m.scale()
	rng := rand.New(rand.NewPCG(seed, 7))
	x = rows.Data{N: n, D: 3}
	for i, p := range m.sample(n, rng, nil) {
		for j, v := range p {
			if outliers && i%5 == 0 {
				x.X = append(x.X, []float64{.7, .7, thick}[j]*rng.Float64()+.2*(rng.Float64()-.5))
				continue
			}
			x.X = append(x.X, v+noise*rng.NormFloat64())
		}
	}
	near := newMeshIndex(m, .02)
	return x, func(y []float64) float64 {
		var sum, counted float64
		for i := range n {
			if !outliers || i%5 != 0 {
				v := near.far([3]float64(y[3*i : 3*i+3]))
				sum += v * v
				counted++
			}
		}
		return math.Sqrt(sum / counted)
	}
}

// TestThinSheets wants both sides of sheets kept apart, far more or hardly more apart than the noise, and where one row
// in five is anywhere. In tiles it is the same.
func TestThinSheets(t *testing.T) {
	needSpeed(t)
	for _, c := range []struct {
		n            int
		thick, noise float64
		outliers     bool
		gain         float64
	}{{1500, .09, .006, false, .5}, {700, .035, .003, false, .6}, {2500, .05, .01, true, .6}} {
		x, off := slabRows(11, c.n, c.thick, c.noise, c.outliers)
		d, err := Fit(context.Background(), Auto{Latent: 2}, x, Options{})
		require.NoError(t, err)
		r, err := d.Denoise(context.Background(), x, Options{})
		require.NoError(t, err)
		require.Positive(t, d.prepared.Fitted.(*autoFit).setting.Sides)
		require.Less(t, off(r.X), c.gain*off(x.X))
		requireSameInTiles(t, Auto{Latent: 2}, x, 3, .1, r)
	}
}

// TestBetweenSheets: where nothing tells the sides apart, as on the plane, rows stay. Noise that is as likely
// anywhere within its bounds is that of one sheet.
func TestBetweenSheets(t *testing.T) {
	needSpeed(t)
	rng := rand.New(rand.NewPCG(13, 13))
	x := rows.Data{N: 200, D: 2, X: make([]float64, 400)}
	for i := range x.N {
		copy(x.Row(i), []float64{rng.Float64(), .05*float64(i%2) + .006*rng.NormFloat64()})
	}
	d, err := Fit(context.Background(), Auto{Latent: 1}, x, Options{})
	require.NoError(t, err)
	require.Equal(t, betweenSheets, d.Note())
	r, err := d.Denoise(context.Background(), x, Options{})
	require.NoError(t, err)
	require.Equal(t, x.X, r.X)
	for _, row := range r.Rows {
		require.True(t, row.Unchanged)
	}
	flat := rows.Data{N: 6000, D: 3, X: make([]float64, 18000)}
	for i := range flat.N {
		copy(flat.Row(i), []float64{rng.Float64(), rng.Float64(), .05 * rng.Float64()})
	}
	d, err = Fit(context.Background(), Auto{Latent: 2}, flat, Options{})
	require.NoError(t, err)
	require.Empty(t, d.Note())
	require.Zero(t, d.prepared.Fitted.(*autoFit).setting.Sides)
}

// TestNotesOfSheets: a note says that sheets are close.
func TestNotesOfSheets(t *testing.T) {
	require.Contains(t, (&setting{Setting: chart.Setting{Sides: .012, Scale: .01}}).sheets(), "2.4 standard deviations")
	require.Empty(t, (&setting{Setting: chart.Setting{Sides: .03, Scale: .01}}).sheets())
	require.Empty(t, (&setting{Setting: chart.Setting{Scale: .01}}).sheets())
	require.Equal(t, betweenSheets, (&setting{between: true}).sheets())
}

// TestPairs draws distances of one sheet and of two, and wants these told from each other, with what they are.
func TestPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 16))
	auto := newAutoSettings(Auto{Latent: 2}, 3)
	for name, c := range map[string]struct {
		draw func() float64
		half float64
	}{
		"normal":              {rng.NormFloat64, 0},
		"even":                {func() float64 { return 2*rng.Float64() - 1 }, 0},
		"normal and outliers": {func() float64 { return []float64{1, 1, 1, 1, 30}[rng.IntN(5)] * rng.NormFloat64() }, 0},
		"two scales":          {func() float64 { return []float64{1, 3}[rng.IntN(2)] * rng.NormFloat64() }, 0},
		"2.5 apart":           {func() float64 { return 1.25 + rng.NormFloat64() }, 1.25},
		"4 apart":             {func() float64 { return 2 + rng.NormFloat64() }, 2},
		"8 apart":             {func() float64 { return 4 + rng.NormFloat64() }, 4},
		"4 apart, outliers": {func() float64 {
			if rng.IntN(5) == 0 {
				return 20 * rng.Float64()
			}
			return 2 + rng.NormFloat64()
		}, 2},
	} {
		far := make([]float64, 4000)
		for i := range far {
			far[i] = math.Abs(c.draw())
		}
		pair := auto.findPair(far)
		require.Equal(t, c.half > 0, pair.surely(), "%s %v", name, pair)
		if c.half > 0 {
			require.InDelta(t, c.half, pair.half, .1*c.half, name)
			require.InDelta(t, 1, pair.scale, .1, name)
		}
	}
	require.False(t, auto.findPair([]float64{0, 0, 0}).surely())
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

// TestLookWide wants larger charts to be looked at by least squares only where these see no more noise, and nothing hints at sheets.
func TestLookWide(t *testing.T) {
	needSpeed(t)
	p, fresh := pilotOf(t, sphereSample(11, 1500, .03).x)
	p.charts = fresh()
	s := p.setting
	s.thin, s.uneven = false, false
	before, _, err := p.lookAtNoise(&s)
	require.NoError(t, err)
	require.NotEmpty(t, before.far)
	s.neighbors *= 2
	for _, c := range []struct {
		plain, overOne float64
		looks          bool
	}{{1, 0, false}, {.5, 0, true}, {1, 2, true}} {
		last := before
		last.plain *= c.plain
		wide := s
		seen, looks, err := p.lookWide(&wide, last, sheetPair{overOne: c.overOne})
		require.NoError(t, err)
		require.Equal(t, c.looks, looks)
		require.Equal(t, looks, seen.scale != before.scale)
	}
}
