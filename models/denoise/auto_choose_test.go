package denoise

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/rows"
)

// probedCandidate is one whose probes say this of the divergence, give or take deviation.
func probedCandidate(neighbors int, own, size, extra, deviation float64) *compared {
	const n = 400
	c := newCompared(candidate{neighbors: neighbors}, n)
	c.size = size
	for i := range n {
		c.own[0][i], c.trusted[0][i], c.scale[0][i], c.sizes[i] = own, 1, 1, size
		c.extra[i] = extra + deviation*float64(1-2*(i%2))
	}
	return c
}

// pilotedSphere is what the pilot knows of n points of the unit sphere, with the setting that candidates are compared with.
func pilotedSphere(t *testing.T, seed uint64, n int, noise float64) (*autoPrepare, *cloudCharts, setting) {
	c, err := core.CloudOf(sphereSample(seed, n, noise).x)
	require.NoError(t, err)
	p, charts, err := newPilot(context.Background(), Auto{Latent: 2}, c, Options{})
	require.NoError(t, err)
	s := p.setting
	s.pilot, s.thin, s.keepsSides, s.Ridge, s.least = false, false, false, pilotRidge, p.sizes()[0]
	return p, charts, s
}

// TestBeyond: for many points of surfaces it is what is known beforehand; elsewhere it is what probes say, and falls with the number of neighbours.
func TestBeyond(t *testing.T) {
	many := &autoPrepare{autoSettings: newAutoSettings(Auto{Latent: 2}, 3), n: 10000, D: 3}
	many.setting.Setting = chart.Setting{Scale: 1, Cut: math.Inf(1)}
	beyond := func(p *autoPrepare, c, before *compared) float64 {
		p.estimate(c, before)
		return c.more
	}
	seen := probedCandidate(81, .09, 7, .01, 1)
	known := beyond(many, seen, nil)
	require.InDelta(t, .09*(.15+.36), known, 1e-12)
	require.InDelta(t, 2*(.09+known), seen.risk[0], 1e-12)
	require.InDelta(t, known, beyond(many, probedCandidate(81, .09, 7, -9, .01), seen), 1e-15, "whatever probes and fewer neighbours say")
	require.InDelta(t, .09*.15, beyond(many, probedCandidate(81, .09, 0, .01, 1), nil), 1e-12, "all rows at one place")
	noisy := probedCandidate(81, .09, 7, .01, 1)
	noisy.scale[0][3] = 2
	beyond(many, noisy, nil)
	require.InDelta(t, 2*4*(.09+.09*(.15+4*.36)), noisy.risk[3], 1e-12, "by the noise about the row")

	before := probedCandidate(54, .14, 6, .012, 1)
	before.more = .012
	for _, change := range []func(p *autoPrepare){
		func(p *autoPrepare) { p.n = fewRows },
		func(p *autoPrepare) { p.method.Latent = 1 },
		func(p *autoPrepare) { p.q = 2 },
	} {
		p := *many
		change(&p)
		require.InDelta(t, .01, beyond(&p, seen, nil), 1e-12)
		require.InDelta(t, .008, beyond(&p, seen, before), 1e-12)
	}
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
		cloud, err := core.NewCloud(c.x)
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

// TestRace: of many rows sizes that are worse by a part of the selection are looked at by no other, and parts end where others are expected to be better by
// nothing that matters. The best is compared by these as it is by the whole selection at once, but for the order of its rows.
func TestRace(t *testing.T) {
	p, charts, o := pilotedSphere(t, 6, raceRows, .02)
	require.Empty(t, charts.probes, "what they would say is known")
	raced := &trials{autoPrepare: p, setting: o, sizes: p.sizes()}
	require.Equal(t, race, raced.parts())
	require.Equal(t, []float64{pilotRidge}, raced.ridges())
	raced.setting.uneven = true
	require.Equal(t, race, raced.parts())
	raced.setting.uneven = false
	best, err := raced.qualify()
	require.NoError(t, err)
	require.Len(t, best.risk, selectionRows/race)
	looked := len(raced.tried)
	left := slices.DeleteFunc(slices.Clone(raced.tried), func(out []*compared) bool { return leastRisk(out).worseBy(surelyRaced, best) })
	require.Less(t, len(left), looked)

	raced = &trials{autoPrepare: p, setting: o, sizes: p.sizes()}
	best, err = raced.run()
	require.NoError(t, err)
	require.Equal(t, leastParts, best.parts)
	require.Len(t, raced.tried, len(left), "those that are not surely worse by the first part")
	require.Greater(t, raced.mayLose(best), 0., "others may be better")
	require.LessOrEqual(t, raced.mayLose(best), tolerable)
	for _, out := range raced.tried {
		require.LessOrEqual(t, best.total(), leastRisk(out).total())
		require.Len(t, out[0].risk, best.parts*selectionRows/race)
	}
	o.neighbors = best.neighbors
	whole, err := charts.compare(o, []candidate{best.candidate}, portion{})
	require.NoError(t, err)
	for k, v := range best.columns() {
		at := 0
		for part := range best.parts {
			for l, w := range whole[0].columns()[k] {
				if (portion{part, race}).place(l) >= 0 {
					require.Equal(t, math.Float64bits(w), math.Float64bits(v[at]), "column %d, row %d", k, l)
					at++
				}
			}
		}
		require.Equal(t, len(v), at)
	}
	ridge, err := raced.bestRidge(best)
	require.NoError(t, err)
	require.NotEqual(t, pilotRidge, ridge)
	before := p.setting
	chosen, err := p.choose()
	require.NoError(t, err)
	require.Zero(t, p.setting.from)
	require.Equal(t, []any{best.neighbors, ridge, ridge}, []any{chosen.neighbors, chosen.ridge, p.setting.Ridge})
	p.setting = before

	raced.setting.from = edgeRows
	require.Equal(t, candidateRidges[:1], raced.ridges())
	raced.setting.from, raced.setting.noisy = 0, false
	require.Equal(t, candidateRidges, raced.ridges())
	p.q = 2
	require.Equal(t, race/2, raced.parts(), "probes have more chance in them than risks say")
	require.True(t, math.IsInf(raced.mayLose(best), 1))
	raced.setting.uneven = true
	require.Equal(t, 1, raced.parts())
	p.q, p.n = 1, raceRows-1
	require.Equal(t, 1, raced.parts(), "few rows")
	require.Equal(t, candidateRidges, raced.ridges())
}

// riskyCandidate has so much more risk than nothing, give or take deviation, by n rows.
func riskyCandidate(n int, mean, deviation float64) *compared {
	c := newCompared(candidate{}, n)
	c.risk = make([]float64, n)
	for i := range n {
		c.own[0][i], c.risk[i] = .1, mean+deviation*float64(1-2*(i%2))
	}
	return c
}

// TestMayLose wants the loss that normal risks expect: of two that are as good err/sqrt(2 pi), and little once the difference is sure.
func TestMayLose(t *testing.T) {
	const n = 100
	p := &autoPrepare{autoSettings: newAutoSettings(Auto{Latent: 2}, 3), n: 10000, D: 3}
	p.setting.Scale = 1
	best := riskyCandidate(n, 0, 0)
	for _, c := range []struct{ mean, deviation, want float64 }{
		{0, 1, .3989}, {1, 1, .0833}, {3, 1, 3.8e-4}, {0, 0, 0}, {1, 0, 0},
	} {
		err := c.deviation * math.Sqrt(n/(n-1.)) / 10
		tr := trials{autoPrepare: p, tried: [][]*compared{{best}, {riskyCandidate(n, c.mean*err, c.deviation), riskyCandidate(n, 9, 1)}}}
		require.InDelta(t, c.want*err/.1, tr.mayLose(best), .01*c.want*err/.1+1e-9)
	}
}

// TestFaith wants charts to count by their rows, and those whose rows are further from them than the noise for less, where the noise is the same for all.
func TestFaith(t *testing.T) {
	s := setting{noisy: true, neighbors: 30, Setting: chart.Setting{Scale: 2}}
	require.Equal(t, 1., s.faith(30, 2*doubtful))
	require.Equal(t, 1.5, s.faith(45, doubtful))
	require.InDelta(t, 1./32, s.faith(15, 4*doubtful), 1e-15)
	for _, change := range []func(s *setting){func(s *setting) { s.noisy = false }, func(s *setting) { s.uneven = true }, func(s *setting) { s.drawn = true }} {
		o := s
		change(&o)
		require.Equal(t, 1., o.faith(9, 9))
	}

	d, s := fitAuto(t, sphereSample(7, fewRows+1, .02).x)
	a := d.prepared.Fitted.(*autoFit)
	w := newAutoWorker(a)
	weigh := func() (at *sites) {
		own, ok := w.nearestChart(0, a.places.y[:3])
		require.True(t, ok && w.load(own))
		w.known = nil
		a.countCharts()
		at = w.findSites(own)
		require.NotNil(t, at)
		at.weigh(a.places.y[:3])
		return at
	}
	first := weigh()
	noise := &a.charts[(first.list[9].row+1)*w.width-1]
	require.Less(t, *noise, doubtful*s.Scale)
	*noise = 4 * s.Scale
	second := weigh()
	require.InDelta(t, s.faith(s.neighbors, *noise), second.weights[9]/second.weights[0]*first.weights[0]/first.weights[9], 1e-12)
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

// TestNoiseSeen wants risks to be estimated with the noise that small charts see where the pilot's take what a surface bends by for noise: where that is little, and uneven.
func TestNoiseSeen(t *testing.T) {
	needSpeed(t)
	for _, c := range []struct {
		noise float64
		kind  string
		sees  bool
	}{{.5, "rays", true}, {.2, "", true}, {1, "", false}, {0, "uneven", false}} {
		x, _ := scanCase{n: 2 * fewRows, noise: c.noise, kind: c.kind}.draw(scaledBumps(), 604)
		p, _ := pilotOf(t, x)
		s := p.setting
		require.Equal(t, c.kind != "", s.uneven)
		s.pilot, s.thin, s.keepsSides, s.Ridge = false, false, false, pilotRidge
		one := trials{autoPrepare: p, setting: s, sizes: []int{36}}
		best, err := one.run()
		require.NoError(t, err)
		require.Equal(t, c.sees, one.seesNoise())
		if !c.sees {
			require.Equal(t, 1., p.noiseSeen())
			continue
		}
		require.Less(t, p.noiseSeen(), .97, "bumps are noise to the pilot")
		risk := best.total()
		p.seen = 1
		one.estimateAll()
		require.Less(t, risk, .99*best.total())
	}
}
