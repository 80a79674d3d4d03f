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

// TestGiven wants the value that is the least sum of squares from both, each in units of its deviation.
func TestGiven(t *testing.T) {
	d := normal{.08, .03}
	for _, v := range []float64{-.1, .08, .3} {
		got := d.given(v, .02)
		loss := func(m float64) float64 {
			a, b := (m-d.mean)/d.deviation, (m-v)/.02
			return a*a + b*b
		}
		require.Less(t, loss(got), loss(got+1e-6))
		require.Less(t, loss(got), loss(got-1e-6))
	}
	require.Equal(t, .2, d.given(.2, 0))
	require.InDelta(t, d.mean, d.given(.2, 1e6), 1e-9)
	require.Equal(t, .2, normal{}.given(.2, 0), "neither says how sure it is")
}

// probedCandidate is one whose probes say this of the divergence, give or take deviation.
func probedCandidate(neighbors int, own, size, extra, deviation float64) *compared {
	const n = 400
	c := newCompared(candidate{neighbors: neighbors}, n)
	c.size = size
	for i := range n {
		c.own[0][i], c.trusted[0][i] = own, 1
		c.extra[i] = extra + deviation*float64(1-2*(i%2))
	}
	return c
}

// TestBeyond: what is known beforehand draws the word of probes to itself, the more the less certain that is, and only for many
// points of surfaces with even noise; elsewhere it falls with the number of neighbours.
func TestBeyond(t *testing.T) {
	many := &autoPrepare{autoSettings: newAutoSettings(Auto{Latent: 2}, 3), n: 10000, D: 3}
	many.setting.Setting = chart.Setting{Scale: 1, Cut: math.Inf(1)}
	sure, unsure := probedCandidate(81, .09, 7, .01, .01), probedCandidate(81, .09, 7, .01, 1)
	likely := many.likelyBeyond(sure).mean
	require.InDelta(t, .09*(.15+.36), likely, 1e-12)
	require.InDelta(t, .01, many.beyond(sure, nil), .001)
	require.Greater(t, many.beyond(unsure, nil), .02)
	require.Less(t, many.beyond(unsure, nil), likely)
	require.Equal(t, many.beyond(unsure, nil), many.beyond(unsure, sure), "whatever fewer neighbours say")
	require.Zero(t, many.beyond(probedCandidate(81, .09, 7, -9, .01), nil))

	before := probedCandidate(54, .14, 6, .012, 1)
	before.more = .012
	for _, change := range []func(p *autoPrepare){
		func(p *autoPrepare) { p.n = fewRows },
		func(p *autoPrepare) { p.setting.uneven = true },
		func(p *autoPrepare) { p.method.Latent = 1 },
		func(p *autoPrepare) { p.D = 4 },
	} {
		p := *many
		change(&p)
		require.InDelta(t, .01, p.beyond(unsure, nil), 1e-12)
		require.InDelta(t, .008, p.beyond(unsure, before), 1e-12)
	}
	require.InDelta(t, .01, many.beyond(probedCandidate(81, .09, 0, .01, 1), nil), 1e-12, "no neighbourhoods were seen")
}

// TestUnevenOfFew: edges make the noise that charts see differ from place to place, but less for charts of fewer rows; noise that does differ is
// seen by both.
func TestUnevenOfFew(t *testing.T) {
	needSpeed(t)
	rng := rand.New(rand.NewPCG(5, 7))
	edges := rows.Data{N: 1500, D: 3}
	for _, p := range boxMesh(1, 1, 1).sample(edges.N, rng, nil) {
		for _, v := range p {
			edges.X = append(edges.X, v+.0035*rng.NormFloat64())
		}
	}
	for _, c := range []struct {
		x      rows.Data
		uneven bool
	}{{edges, false}, {unevenSample(2, 1500).x, true}} {
		cloud, err := newCloud(c.x)
		require.NoError(t, err)
		p, charts, err := newPilot(context.Background(), Auto{Latent: 2}, cloud, Options{})
		require.NoError(t, err)
		require.Equal(t, c.uneven, p.setting.uneven)
		s := p.setting
		s.pilot, s.neighbors = true, 60
		seen, err := charts.chart(order{some: true, setting: s})
		require.NoError(t, err)
		require.True(t, isUneven(seen.local, unevenQuartiles), "charts of many rows see it in both")
	}
}

// TestRace: of many rows sizes that are worse by a part of the selection are looked at by no other; the best is compared by all of it, as it is by
// the whole selection at once, but for the order of its rows.
func TestRace(t *testing.T) {
	s := sphereSample(7, raceRows, .02)
	c, err := cloudOf(s.x)
	require.NoError(t, err)
	p, charts, err := newPilot(context.Background(), Auto{Latent: 2}, c, Options{})
	require.NoError(t, err)
	o := p.setting
	o.pilot, o.thin, o.keepsSides, o.Ridge, o.least = false, false, false, pilotRidge, p.sizes()[0]
	raced := &trials{autoPrepare: p, setting: o, sizes: p.sizes()}
	require.Equal(t, race, raced.parts())
	best, err := raced.qualify()
	require.NoError(t, err)
	require.Len(t, best.risk, selectionRows/race)
	looked := len(raced.tried)

	raced = &trials{autoPrepare: p, setting: o, sizes: p.sizes()}
	best, err = raced.run()
	require.NoError(t, err)
	require.Less(t, len(raced.tried), looked)
	for _, out := range raced.tried {
		require.LessOrEqual(t, best.total(), leastRisk(out).total())
		require.Len(t, out[0].risk, selectionRows)
	}
	o.neighbors = best.neighbors
	whole, err := charts.compare(o, []candidate{best.candidate}, portion{})
	require.NoError(t, err)
	for k, v := range best.columns() {
		at := 0
		for part := range race {
			for l, w := range whole[0].columns()[k] {
				if (portion{part, race}).place(l) >= 0 {
					require.Equal(t, math.Float64bits(w), math.Float64bits(v[at]), "column %d, row %d", k, l)
					at++
				}
			}
		}
		require.Equal(t, selectionRows, at)
	}
	raced.setting.uneven = true
	require.Equal(t, 1, raced.parts())
	raced.setting.uneven, p.n = false, raceRows-1
	require.Equal(t, 1, raced.parts(), "few rows")
}

// TestRaceInTiles wants parts of the selection to be the same in tiles.
func TestRaceInTiles(t *testing.T) {
	needSpeed(t)
	x, _ := boxRows(101, raceRows, 1)
	d, s := fitAuto(t, x)
	require.False(t, s.uneven, "or there are no parts")
	r, err := d.Denoise(context.Background(), x, Options{})
	require.NoError(t, err)
	requireSameInTiles(t, Auto{Latent: 2}, x, 2, .05, r)
}

// TestBlended wants feet to be means over half of the neighbours where there is noise that charts have not averaged yet; K is chosen by a third.
func TestBlended(t *testing.T) {
	for _, c := range []struct {
		s    setting
		want int
	}{{setting{neighbors: 90, noisy: true}, 45}, {setting{neighbors: 90}, 30}, {setting{neighbors: 90, noisy: true, drawn: true}, 30}, {setting{neighbors: 1, noisy: true}, 1}} {
		require.Equal(t, c.want, c.s.blended())
		require.Equal(t, max(c.s.neighbors/3, 1), c.s.weighed())
	}
}

// TestPortions wants parts of a selection to be apart, to make it up, to be of pairs and to keep the order.
func TestPortions(t *testing.T) {
	for _, n := range []int{1, 2, 7, 8, 9, 800} {
		seen, rows := make([]bool, n), 0
		for at := range 4 {
			p, last := portion{at, 4}, -1
			for k := range n {
				if place := p.place(k); place >= 0 {
					require.False(t, seen[k])
					require.Equal(t, last+1, place)
					seen[k], last = true, place
				}
			}
			require.Equal(t, last+1, p.rows(n))
			rows += p.rows(n)
		}
		require.Equal(t, n, rows)
		require.Equal(t, n, portion{}.rows(n))
	}
	require.Equal(t, portion{1, 4}.place(2), portion{1, 4}.place(3)-1, "probes ask every other row")
}

// TestTrustMost: all rows count where more than a third would not, and those that are added later too.
func TestTrustMost(t *testing.T) {
	counted := func(step int) *compared {
		c := newCompared(candidate{}, 9)
		for r := range crowdRows {
			for i := range c.trusted[r] {
				c.trusted[r][i] = float64(min(i%step, 1))
			}
		}
		return c
	}
	for step, all := range map[int]bool{2: true, 4: false} {
		c := counted(step)
		c.trustMost()
		require.Equal(t, all, c.trusted[0][0] > 0)
		c.add(counted(9))
		c.trustMost()
		require.Equal(t, all, c.trusted[0][9] > 0)
	}
}
