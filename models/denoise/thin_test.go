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

// finRows are rows of a gentle sheet, of which one in five is on the two sides of a fin that stands on it, at the distance half from
// the middle, with noise that may grow along it; off returns the root mean square distances of the rows of the fin, and of the others.
func finRows(seed uint64, n int, half, noise float64, uneven bool) (x rows.Data, off func(y []float64) (fin, sheet float64)) {
	const wide = .35
	rng := rand.New(rand.NewPCG(seed, 31))
	x = rows.Data{N: n, D: 3}
	bend := func(a, b float64) float64 { return .1 * (a*a - b*b) }
	for i := range n {
		p := [3]float64{rng.Float64() - .5, rng.Float64() - .5, 0}
		p[2] = bend(p[0], p[1])
		if i%5 == 0 {
			side := half * float64(1-2*(i/5%2))
			p = [3]float64{wide * (rng.Float64() - .5), side, .1 + wide*rng.Float64()}
		}
		s := noise
		if uneven {
			s *= math.Pow(6, p[0])
		}
		for _, v := range p {
			x.X = append(x.X, v+s*rng.NormFloat64())
		}
	}
	return x, func(y []float64) (fin, sheet float64) {
		for i := range n {
			p := y[3*i : 3*i+3]
			if i%5 == 0 {
				v := math.Abs(p[1]) - half
				fin += v * v / float64(n/5)
				continue
			}
			v := p[2] - bend(p[0], p[1])
			sheet += v * v / float64(n-n/5)
		}
		return math.Sqrt(fin), math.Sqrt(sheet)
	}
}

// thinRows counts the rows in thin parts, whose charts grow or are split, for which among is true.
func thinRows(d *Denoiser, among func(i int) bool) (count int) {
	fit := d.prepared.Fitted.(*autoFit)
	for i := range fit.cloud.N {
		if about := fit.about[aboutWidth*i:]; (about[2] > 0 || about[3] > 0) && among(i) {
			count++
		}
	}
	return count
}

// TestThinParts wants both sides of a part kept apart that is as thin as neighbourhoods elsewhere are large, where charts
// would lie between them, with noise that is even or not, where few rows tell the sides and where these do not, and nothing else taken
// for thin. In tiles it is the same.
func TestThinParts(t *testing.T) {
	needSpeed(t)
	for _, c := range []struct {
		half, gain    float64
		uneven, tiles bool
	}{{.03, .7, false, false}, {.03, .85, true, true}, {.012, .8, false, true}} {
		x, off := finRows(3, 1800, c.half, .005, c.uneven)
		d, err := Fit(context.Background(), Auto{Latent: 2}, x, Options{})
		require.NoError(t, err)
		require.Equal(t, c.uneven, d.prepared.Fitted.(*autoFit).setting.uneven)
		r, err := d.Denoise(context.Background(), x, Options{})
		require.NoError(t, err)
		require.Greater(t, thinRows(d, func(i int) bool { return i%5 == 0 }), 9*x.N/50)
		require.Less(t, thinRows(d, func(i int) bool { return i%5 != 0 }), x.N/50)
		before, _ := off(x.X)
		fin, sheet := off(r.X)
		require.Less(t, fin, c.gain*before)
		require.Less(t, sheet, .0015)
		if c.tiles {
			requireSameInTiles(t, Auto{Latent: 2}, x, 2, .05, r)
		}
	}
}

// TestNoThinParts: one sheet has none, however uneven its noise.
func TestNoThinParts(t *testing.T) {
	needSpeed(t)
	for _, x := range []rows.Data{unevenSample(2, 1200).x, sphereSample(2, 1200, .03).x} {
		d, err := Fit(context.Background(), Auto{Latent: 2}, x, Options{})
		require.NoError(t, err)
		require.Less(t, thinRows(d, func(int) bool { return true }), x.N/20)
	}
}

// TestIsThin: the noise of one sheet is the same by few rows and by many, that of charts between two sides larger by many.
func TestIsThin(t *testing.T) {
	size := math.Sqrt(float64(thinFew) / thinMany) // of few rows, where many have 1
	for _, uneven := range []bool{false, true} {
		s := setting{Setting: chart.Setting{Scale: .1}, uneven: uneven}
		for _, noise := range []float64{.001, .01, .05, .1, .12} {
			require.False(t, s.isThin(noise/size, noise, 1), "one sheet, noise %v", noise)
			require.Equal(t, noise >= .1, s.isThin(noise/size, 1.6*noise, 1), "two sides, noise %v", noise)
		}
		require.False(t, s.isThin(.3, .25, 1), "a ball of noise")
		require.Equal(t, uneven, s.sidesOf(.13, .2, 1) == 0, "few rows see both sides")
		require.Zero(t, s.sidesOf(.11, .2, 1), "few rows see one side")
		require.Zero(t, s.sidesOf(.13, .3, 1), "far apart")
		require.Zero(t, s.sidesOf(.13, .12, 1), "noise that is hardly more")
		require.False(t, s.isThin(math.NaN(), math.NaN(), 1))
	}
}
