package denoise

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
)

// pooledPilot is the pilot of a sphere, with charts that curvature can be drawn from, the setting for these, and candidates.
func pooledPilot(t *testing.T, n int) (*autoPrepare, *cloudCharts, setting, []candidate) {
	s := sphereSample(4, n, .05)
	c, err := core.CloudOf(s.x)
	require.NoError(t, err)
	p, charts, err := newPilot(context.Background(), Auto{Latent: 2}, c, Options{Threads: 1})
	require.NoError(t, err)
	o := p.setting
	o.pilot, o.thin, o.Ridge, o.least = false, false, 0, p.sizes()[0]
	o.neighbors = 54
	o.pooled, o.drawn = 40, true
	_, err = charts.chart(order{keep: true, setting: o})
	require.NoError(t, err)
	require.NoError(t, charts.follow(o))
	return p, charts, o, []candidate{{54, 0}, {54, .1}}
}

// TestComparedByOne: what candidates are compared by is the same for a row alone, whose charts are made for it, and among all, where charts
// are made for several rows.
func TestComparedByOne(t *testing.T) {
	_, charts, s, list := pooledPilot(t, 150)
	for _, s.drawn = range []bool{false, true} {
		all, missed, err := charts.compareSome(charts.cloud.Used, nil, s, list)
		require.NoError(t, err)
		require.NotContains(t, missed, true)
		for k, i := range charts.cloud.Used {
			one, _, err := charts.compareSome([]int{i}, []int{k}, s, list)
			require.NoError(t, err)
			for c := range list {
				want, got := all[c].columns(), one[c].columns()
				for l := range want {
					require.Equal(t, math.Float64bits(want[l][k]), math.Float64bits(got[l][0]), "row %d, column %d", i, l)
				}
			}
		}
	}
}

// comparisonOf is a comparison that has been run.
func comparisonOf(t *testing.T, p *cloudCharts, s setting, list []candidate) *comparison {
	c := &comparison{cloudCharts: p, setting: s}
	for _, one := range list {
		c.list = append(c.list, newCompared(one, len(p.cloud.Used)))
	}
	c.begin(len(p.cloud.Used))
	for k, i := range p.cloud.Used {
		c.rows[k], c.judged[k].probed = i, true
	}
	require.NoError(t, c.run())
	return c
}

// TestChartsOfSites: every site has one chart, for all rows that have it, and its chart allocates nothing.
func TestChartsOfSites(t *testing.T) {
	_, charts, s, list := pooledPilot(t, 150)
	c := comparisonOf(t, charts, s, list)
	at, sites := map[int]int{}, 0
	for l, u := range c.uses {
		if l == 0 || u.site != c.uses[l-1].site {
			sites++
		}
		at[u.site]++
		require.Equal(t, u.site, c.judged[u.k].sites[u.f])
	}
	require.Len(t, at, sites, "uses of a site follow each other")
	var judged int
	for k := range c.judged {
		judged += c.judged[k].n
	}
	require.Len(t, c.uses, judged)
	require.Greater(t, len(c.uses), 3*sites, "150 rows share their sites")
	last := 0
	for last < len(c.uses) && c.uses[last].site == c.uses[0].site {
		last++
	}
	w := charts.workers[0]
	require.Zero(t, testing.AllocsPerRun(10, func() { w.chartSite(c, c.uses[0].site, c.uses[:last]) }))
}

// TestFeetOnSites: what is stored of a row and a site is what the chart of the site says, made by itself.
func TestFeetOnSites(t *testing.T) {
	_, charts, s, list := pooledPilot(t, 120)
	c := comparisonOf(t, charts, s, list)
	w, n, foot := charts.workers[0], len(c.rows), make([]float64, 3)
	for k := 0; k < n; k += 17 {
		j := &c.judged[k]
		require.Equal(t, []int{4, crowdRows}, []int{j.n, j.many})
		for f, site := range j.sites[:j.n] {
			for m, one := range list {
				made, known := w.prepareSite(site, charts.cloud.X, &charts.places, s)
				require.True(t, made && known && w.chart.Solve(w.ridge(one.ridge)))
				require.Equal(t, w.rows.Next, c.size[k*sitesTried+f])
				for r := crowdRows - 1; r >= 0; r-- {
					at, own := ((m*n+k)*crowdRows+r)*sitesTried+f, 0.0
					require.True(t, w.chart.Foot(foot, charts.cloud.Row(j.crowd[r])))
					if place := w.rows.Place(j.crowd[r]); place >= 0 {
						own = w.chart.Influence(place)
					}
					require.Equal(t, foot, c.feet[3*at:3*at+3])
					require.Equal(t, own, c.own[at])
				}
				w.chart.Influences(w.rows.L)
				for p := range charts.probes {
					require.Equal(t, w.linear(&charts.probes[p], c.rows[k]), c.linear[((m*len(c.probes)+p)*n+k)*sitesTried+f])
				}
				for p := range charts.probes {
					pr, at := &charts.probes[p], ((m*len(c.probes)+p)*n+k)*sitesTried+f
					made, known := w.prepareSite(site, pr.x, &pr.places, s)
					require.True(t, made && known && w.chart.Solve(w.ridge(one.ridge)))
					require.True(t, w.chart.Foot(foot, pr.x[3*c.rows[k]:3*c.rows[k]+3]))
					require.Equal(t, foot, c.moved[3*at:3*at+3])
				}
			}
		}
	}
}

// TestRowsAtOnce: few rows of few columns are compared at once, and what is held is bounded for many columns.
func TestRowsAtOnce(t *testing.T) {
	require.GreaterOrEqual(t, rowsAtOnce(len(candidateRidges), maxProbes, 3), selectionRows)
	for _, D := range []int{3, 20, 100, 1000} {
		n := rowsAtOnce(len(candidateRidges), 1, D)
		held := float64(n) * float64(len(candidateRidges)*sitesTried*(D+1)*(crowdRows+1))
		require.GreaterOrEqual(t, compareNumbers(1e6, float64(D), 1), min(held, selectionRows/float64(n)*held))
	}
}

// TestComparedInParts: rows are compared in parts as they are at once.
func TestComparedInParts(t *testing.T) {
	_, charts, s, list := pooledPilot(t, 100)
	whole := comparisonOf(t, charts, s, list)
	part := &comparison{cloudCharts: charts, setting: s, list: whole.list}
	rng := rand.New(rand.NewPCG(7, 7))
	for range 5 {
		k := rng.IntN(100)
		part.begin(2)
		for l, i := range []int{k, (k + 50) % 100} {
			part.rows[l], part.judged[l].probed = i, true
		}
		require.NoError(t, part.run())
		for m := range list {
			require.Equal(t, whole.extra(m, k), part.extra(m, 0))
		}
	}
}

// BenchmarkPooled fits and denoises few rows, where curvature is pooled, and reports processor seconds.
func BenchmarkPooled(b *testing.B) {
	for _, c := range []struct {
		name string
		s    sample
	}{
		{"sphere-300", sphereSample(1, 300, .06)}, {"sphere-1500", sphereSample(1, 1500, .06)},
		{"torus-1500", surfaceSample(1, 1500, 3, .05, 2, torusPoint)},
	} {
		b.Run(c.name, func(b *testing.B) {
			from := processorSeconds(b)
			for range b.N {
				d, err := Fit(context.Background(), Auto{Latent: 2}, c.s.x, Options{Threads: 1})
				require.NoError(b, err)
				_, err = d.Denoise(context.Background(), c.s.x, Options{Threads: 1})
				require.NoError(b, err)
			}
			b.ReportMetric((processorSeconds(b)-from)/float64(b.N), "cpu-s/op")
		})
	}
}

// TestFootOfNoChart: a row whose chart is not there is where its site is, and follows itself.
func TestFootOfNoChart(t *testing.T) {
	_, charts, s, list := pooledPilot(t, 100)
	c := comparisonOf(t, charts, s, list)
	u, w := c.uses[0], charts.workers[0]
	require.IsType(t, &chart.Space{}, w.chart)
	w.judgeCrowd(c, u, 0, [crowdRows]int{}, false)
	at := u.k * crowdRows * sitesTried
	require.Equal(t, charts.places.y[3*u.site:3*u.site+3], c.feet[(at+u.f)*3:(at+u.f)*3+3])
	require.Equal(t, 1., c.own[at+u.f])
	require.Zero(t, c.linear[u.k*sitesTried+u.f])
}
