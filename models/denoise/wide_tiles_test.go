package denoise

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/models/rows"
)

// wideKinds are rows of ten columns and more of which auto by default takes charts, or a linear model of all or of
// the nearest rows, before or after it has tried charts, or after it has judged these by rows held out.
var wideKinds = []struct {
	name string
	make func(n int, c drill.Case) rows.Data
}{
	{"sphere", func(n int, c drill.Case) rows.Data { return wideSphere(c.Uint64(), n, 12, .05).x }},
	{"outliers", func(n int, c drill.Case) rows.Data { return tileCloud("outliers", n, 12, c.Rand) }},
	{"gap", func(n int, c drill.Case) rows.Data { return tileCloud("gap", n, 12, c.Rand) }},
	{"texture", func(n int, c drill.Case) rows.Data { x, _ := texturedRows(c.Uint64(), 3*n, 20); return x }},
	{"linear", func(n int, c drill.Case) rows.Data { return linearRows(c.Uint64(), n, 14, 4, 4, 4, 3, 3) }},
	{"ties", func(n int, c drill.Case) rows.Data { return tileCloud("ties", n+n/2, 12, c.Rand) }},
	{"bundles", func(n int, c drill.Case) rows.Data { return bundles(c.Uint64(), n, 12, 2).x }},
	{"noisy sphere", func(n int, c drill.Case) rows.Data { return wideSphere(c.Uint64(), n, 12, .2).x }},
	{"plain", func(n int, c drill.Case) rows.Data { return tileCloud("plain", n, 12, c.Rand) }},
	{"many axes", func(n int, c drill.Case) rows.Data { return linearRows(c.Uint64(), n, 10, 9, 9, 9, 8, 8, 7, 7, 6, 6) }},
	{"bent", func(n int, c drill.Case) rows.Data { return surfaceSample(c.Uint64(), 2*n, 20, .03, 2, widePoint).x }},
	{"background", func(n int, c drill.Case) rows.Data { return withBackground(fallingRows(c.Uint64(), n, 60), 30).x }},
	{"few", func(n int, c drill.Case) rows.Data { return wideSphere(c.Uint64(), n/2, 12, .05).x }},
}

// beside are rows to denoise by those of x: these, rows that are off their plane, and rows far away.
func beside(x rows.Data, c drill.Case) rows.Data {
	y := rows.Data{N: x.N, D: x.D, X: slices.Clone(x.X)}
	for range 6 {
		row := slices.Clone(x.Row(c.IntN(x.N)))
		row[c.IntN(x.D)] += 3 * c.NormFloat64()
		y.X = append(y.X, row...)
		y.N++
	}
	y.X, y.N = append(y.X, slices.Repeat([]float64{40}, x.D)...), y.N+1
	return y
}

// TestDrillWideTiles: auto by default gives rows of ten columns and more the bits of one cloud in tiles, with the same
// method, axes and note, whatever it chooses.
func TestDrillWideTiles(t *testing.T) {
	halos := []float64{0, .1, -1, math.Inf(1)}
	taken := map[string]int{}
	drill.Run(t, "wide tiles", 5, func(c drill.Case) error {
		kind := wideKinds[c.Index%len(wideKinds)]
		x := kind.make(130+c.IntN(50), c)
		y := beside(x, c)
		m, ctx := Auto{Latent: 1 + c.IntN(2), LeastSquares: c.IntN(4) == 0}, context.Background()
		d, err := Fit(ctx, m, x, Options{})
		if err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
		want, err := d.Denoise(ctx, y, Options{})
		if err != nil {
			return err
		}
		counts := []int{1, 2, 3, 7}
		if !drill.Whole() {
			counts = counts[1+c.Index%3:][:1]
		}
		for _, tiles := range counts {
			halo := halos[c.IntN(len(halos))]
			where := fmt.Sprintf("%s, n = %d, %d tiles, halo %v", kind.name, x.N, tiles, halo)
			got, fit, err := othersInTiles(m, x, y, tiles, halo, Options{})
			if err != nil {
				return fmt.Errorf("%s: %w", where, err)
			}
			if fit.Method().Name() != d.Method().Name() || fit.Note() != d.Note() || fit.Axes() != d.Axes() || fit.Latent() != d.Latent() {
				return fmt.Errorf("%s: %s along %d axes (%s), want %s along %d (%s)", where, fit.Method().Name(), fit.Axes(), fit.Note(), d.Method().Name(), d.Axes(), d.Note())
			}
			for i := range y.N {
				if !sameBits(got.X[i*y.D:(i+1)*y.D], want.X[i*y.D:(i+1)*y.D]) || got.Rows[i] != want.Rows[i] {
					return fmt.Errorf("%s: row %d is %v %+v, want %v %+v", where, i, got.X[i*y.D:(i+1)*y.D], got.Rows[i], want.X[i*y.D:(i+1)*y.D], want.Rows[i])
				}
			}
		}
		taken[d.Method().Name()]++
		if strings.Contains(d.Note(), "nearest rows") {
			taken["nearest rows"]++
		}
		return nil
	})
	if taken["auto"]+taken["pca"] >= 5 {
		for _, way := range []string{"auto", "pca", "nearest rows"} {
			require.Positive(t, taken[way], way)
		}
	}
}

// TestSpectrumInTiles: a factor for each singular value of all rows gives the bits of one cloud in tiles.
func TestSpectrumInTiles(t *testing.T) {
	x := withBackground(fallingRows(21, 300, 160), 80).x
	d, err := Fit(context.Background(), Auto{Latent: 2}, x, Options{})
	require.NoError(t, err)
	require.Greater(t, d.Axes(), 100)
	want, err := d.Denoise(context.Background(), x, Options{})
	require.NoError(t, err)
	got, fit, err := othersInTiles(Auto{Latent: 2}, x, x, 3, -1, Options{})
	require.NoError(t, err)
	require.Equal(t, []any{d.Axes(), d.Note()}, []any{fit.Axes(), fit.Note()})
	require.True(t, sameBits(got.X, want.X))
	require.Equal(t, want.Rows, got.Rows)
}

// TestNotesOfSheetsInTiles: tiles say as one cloud does that rows are on two sheets near to each other.
func TestNotesOfSheetsInTiles(t *testing.T) {
	m := Auto{Latent: 2}
	for seed := range uint64(40) {
		x := tileCloud("gap", 170, 12, rand.New(rand.NewPCG(seed, 5)))
		d, err := Fit(context.Background(), m, x, Options{})
		require.NoError(t, err)
		if !strings.Contains(d.Note(), "standard deviations") {
			continue
		}
		_, fit, err := othersInTiles(m, x, x, 2, -1, Options{})
		require.NoError(t, err)
		require.Equal(t, d.Note(), fit.Note())
		return
	}
	require.Fail(t, "no draw has two sheets")
}

// TestHeldNoise: the noise of a row follows from its number, and its two copies are independent and normal.
func TestHeldNoise(t *testing.T) {
	const n, D, s = 4000, 3, 2.0
	x, seen, judge := []float64{1, -2, 5}, make([]float64, D), make([]float64, D)
	var product, square, mean float64
	for i := range n {
		heldNoise(s).seen(seen, x, i)
		heldNoise(s).judge(judge, x, i)
		for j, v := range x {
			a, b := seen[j]-v, judge[j]-v
			require.InDelta(t, -a/(addedNoise*addedNoise), b, 1e-12)
			mean += a / (n * D)
			square += a * a / (n * D)
		}
		product += (seen[0] - x[0]) * (seen[1] - x[1]) / n
	}
	heldNoise(s).seen(judge, x, n-1)
	require.Equal(t, seen, judge)
	require.InDelta(t, 0, mean, .04)
	require.InDelta(t, 1, square, .05)
	require.InDelta(t, 0, product, .06)
}

// TestTilesKeepRows: what a tile was comes back, and one that has kept nothing says so.
func TestTilesKeepRows(t *testing.T) {
	ctx, x := context.Background(), rows.Data{N: 2, D: 2, X: []float64{1, 2, 3, 4}}
	tile, err := NewTile(x, []int{4, 7})
	require.NoError(t, err)
	for _, act := range []act{actTakeBack, actJudge} {
		_, err = (&Task{act: act}).Do(ctx, nil, tile, nil)
		require.ErrorIs(t, err, ErrInput)
	}
	tile.places, tile.trust = [][]float64{{5, 6, 7, 8}}, [][]float64{{1, .5}}
	_, err = (&Task{act: actHoldOut, noise: 1}).Do(ctx, nil, tile, nil)
	require.NoError(t, err)
	require.NotEqual(t, x.X, tile.values(placeField))
	_, err = (&Task{act: actTakeBack}).Do(ctx, nil, tile, nil)
	require.NoError(t, err)
	require.Equal(t, x.X, tile.values(rowField))
	require.Equal(t, []float64{5, 6, 7, 8}, tile.values(placeField))
	require.Equal(t, []float64{1, .5}, tile.trusted(placeField))
}

// TestNumbers: numbers come back with their bits, and bytes that are none are refused.
func TestNumbers(t *testing.T) {
	v := numbers{1, math.Inf(-1), math.Copysign(0, -1), math.MaxFloat64, 5e-324}
	b, err := v.GobEncode()
	require.NoError(t, err)
	var w numbers
	require.NoError(t, w.GobDecode(b))
	require.True(t, sameBits(v, w))
	require.ErrorIs(t, w.GobDecode(b[:11]), ErrInput)
	require.NoError(t, w.GobDecode(nil))
	require.Nil(t, w)
}
