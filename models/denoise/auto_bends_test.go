package denoise

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
)

// TestPartOfNeighbors wants fewer neighbours where charts see more noise than elsewhere, more where they see less, within bounds, and all of them where that
// may be chance or is not known.
func TestPartOfNeighbors(t *testing.T) {
	seen := make([]float64, 0, 200)
	for k := range 100 {
		seen = append(seen, 1+float64(k*37%100)/100, 0)
	}
	b := bendsOf(seen, thinMany)
	require.InDelta(t, 1.1, b.flat, .011)
	require.InDelta(t, 1.5, b.middle, .011)
	require.Equal(t, 1., b.part(b.middle+.9*math.Sqrt(b.chance)))
	require.Equal(t, 1., b.part(b.middle-.9*math.Sqrt(b.chance)))
	require.InDelta(t, math.Pow(.4/1.2, .25), b.part(b.flat+1.2), .01)
	require.Equal(t, leastPart, b.part(100))
	require.Equal(t, math.Sqrt(math.Sqrt((b.middle-b.sure(b.flat))/(leastBend*b.sure(b.flat)))), b.part(1.05))
	for last, v := math.Inf(1), .5; v < 9; v += .1 {
		require.LessOrEqual(t, b.part(v), last)
		last = b.part(v)
	}
	require.InDelta(t, b.middle+.2-b.chance/.2, b.sure(b.middle+.2), 1e-12)
	require.InDelta(t, b.middle-.2+b.chance/.2, b.sure(b.middle-.2), 1e-12)
	require.Equal(t, 1., b.part(0), "not known")
	require.Equal(t, 1., bendsOf(make([]float64, 9), thinMany).part(2), "nothing is known")
	require.Equal(t, 1., bendsOf([]float64{1, 1, 1}, thinMany).part(1), "flat everywhere")
}

// TestNeighborsOfRow wants K times the part of the place, but 24 rows, and K of thin parts where charts are split.
func TestNeighborsOfRow(t *testing.T) {
	a := &autoFit{about: []float64{1, 0, 0, 0, 1, 0}}
	s := setting{neighbors: 100, bends: bending{flat: 1, middle: 1.5}}
	for seen, K := range map[float64]int{0: 100, 1.5: 100, 2.5: int(100 * s.bends.part(2.5)), 1: int(100 * s.bends.part(1)), 1e6: 40} {
		a.about[5] = seen
		require.Equal(t, K, a.settingAt(0, s).neighbors)
	}
	require.Equal(t, 150, s.most())
	a.about[5] = .1
	require.LessOrEqual(t, a.settingAt(0, s).neighbors, s.most())
	require.Equal(t, 100, (&setting{neighbors: 100}).most())
	require.Less(t, s.bends.part(2.5), .9)
	require.Greater(t, s.bends.part(1), 1.2)
	a.about[5], s.neighbors = 1e6, 50
	require.Equal(t, fewestByPlace, a.settingAt(0, s).neighbors)
	s.Sides = 1
	require.Equal(t, 50, a.settingAt(0, s).neighbors)
}

// TestRecall wants the mean square of the noise of rows that have been measured, of none more than nine times that of all.
func TestRecall(t *testing.T) {
	w := &autoWorker{autoFit: &autoFit{about: make([]float64, 4*aboutWidth)}}
	w.rows.Found = []lookup.Near{{Row: 0}, {Row: 2}, {Row: 3}}
	copy(w.about, []float64{.1, .2, 2})
	copy(w.about[aboutWidth:], []float64{.1, .2, 7})
	copy(w.about[2*aboutWidth:], []float64{.3, .4, 50})
	w.recall(&setting{Setting: chart.Setting{Scale: 2}})
	require.Equal(t, []float64{.1, .3}, w.few)
	require.Equal(t, []float64{.2, .4}, w.many)
	require.Equal(t, (1.+mostSeen)/2, w.bend)
	clear(w.about)
	w.recall(&setting{Setting: chart.Setting{Scale: 2}})
	require.Empty(t, w.few)
	require.Zero(t, w.bend)
}

// TestNeighborsByPlace wants charts of fewer rows near the edges of a box than on its faces, the same in tiles; and of one number where noise is uneven or
// strong, where losses are squared, and where a number is given.
func TestNeighborsByPlace(t *testing.T) {
	needSpeed(t)
	x, _ := boxRows(103, 5000, .9)
	d, s := fitAuto(t, x)
	require.Positive(t, s.bends.middle)
	require.True(t, s.creased)
	require.Greater(t, s.oneIn, 1.)
	r, err := d.Denoise(context.Background(), x, Options{})
	require.NoError(t, err)
	var sum, count [2]float64
	side := 1 / math.Sqrt(3) // of a cube with diagonals of 1
	for i, row := range r.Rows {
		p, near := x.Row(i), 0
		for _, v := range p {
			if min(math.Abs(v), math.Abs(v-side)) < .1*side {
				near++
			}
		}
		if k := near - 1; k == 0 || k == 1 {
			sum[k] += float64(row.Neighbors)
			count[k]++
		}
	}
	require.Less(t, sum[1]/count[1], .9*sum[0]/count[0])
	requireSameInTiles(t, Auto{Latent: 2}, x, 3, .02, r)
	p, _ := pilotOf(t, x)
	one := p.setting
	one.neighbors = thinMany
	const little, much = 20, 10 // sizes in units of the noise
	require.Equal(t, thinMany, p.bentRows(&one, little*one.Scale))
	require.Equal(t, thinMany*bentReach*bentReach/much/much, p.bentRows(&one, much*one.Scale))
	require.Equal(t, bentMost, p.bentRows(&one, 6*one.Scale))
	for _, change := range []func(*setting, *autoPrepare){
		func(s *setting, _ *autoPrepare) { s.uneven = true }, func(s *setting, _ *autoPrepare) { s.noisy = false }, func(s *setting, _ *autoPrepare) { s.neighbors++ },
		func(_ *setting, p *autoPrepare) { p.grown = true }, func(_ *setting, p *autoPrepare) { p.method.LeastSquares = true },
		func(_ *setting, p *autoPrepare) { p.method.Neighbors = 90 }, func(_ *setting, p *autoPrepare) { p.n = fewRows },
	} {
		s, of := one, *p
		change(&s, &of)
		require.Zero(t, of.bentRows(&s, little*s.Scale))
	}
}
