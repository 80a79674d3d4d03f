package denoise

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// bentSheet is n rows of a sheet that bends little, with noise: charts of many rows are the best.
func bentSheet(seed uint64, n int) rows.Data {
	rng := rand.New(rand.NewPCG(seed, 83))
	x := rows.Data{N: n, D: 3}
	for range n {
		p, q := 2*rng.Float64()-1, 2*rng.Float64()-1
		x.X = append(x.X, p+.03*rng.NormFloat64(), q+.03*rng.NormFloat64(), .05*p*p+.03*rng.NormFloat64())
	}
	return x
}

// pilotOf is the pilot of rows, and its charts as they are before it has made all of them.
func pilotOf(t *testing.T, x rows.Data) (*autoPrepare, func() *cloudCharts) {
	c, err := core.NewCloud(x)
	require.NoError(t, err)
	p, _, err := newPilot(context.Background(), Auto{Latent: 2}, c, Options{})
	require.NoError(t, err)
	return p, func() *cloudCharts { return newCloudCharts(context.Background(), p.autoSettings, c, Options{}) }
}

// TestRowsFollow wants most rows of a pilot to follow others to where charts of their own would take them, and those to have charts of their own that
// lead, or are far from the chart of the one that leads, or whose lead has a bad one.
func TestRowsFollow(t *testing.T) {
	needSpeed(t)
	x, _ := boxRows(102, 2*fewRows, .4)
	p, fresh := pilotOf(t, x)
	s := p.setting
	s.thin = false
	require.EqualValues(t, pilotLeads, p.oneIn(&s))
	led, all := fresh(), fresh()
	for oneIn, c := range map[float64]*cloudCharts{pilotLeads: led, 1: all} {
		s.oneIn = oneIn
		_, err := c.chart(order{keep: true, setting: s})
		require.NoError(t, err)
	}
	lead, W := led.leads(func(int) float64 { return pilotLeads }), led.chartWidth()
	var leading []int
	for i, leads := range lead {
		if leads {
			leading = append(leading, i)
		}
	}
	require.InEpsilon(t, float64(x.N)/pilotLeads, len(leading), .1)
	at, w := lookup.NewScan(x.X, 3, leading), newAutoWorker(led.autoFit)
	var search lookup.Search
	alone, moved, foot := 0, 0.0, make([]float64, 3)
	for i := range x.N {
		if lead[i] {
			require.True(t, w.hasChart(i))
			continue
		}
		to := search.Find(at, x.Row(i), 1)[0].Row
		require.True(t, w.load(to))
		require.True(t, w.chart.Foot(foot, x.Row(i)))
		scale := led.about[aboutWidth*to] * s.Scale
		follows := rows.Distance(foot, x.Row(i)) <= followsWithin*scale && led.about[aboutWidth*to+4] <= doubtfulLead
		require.Equal(t, follows, !w.hasChart(i))
		if !follows {
			alone++
			require.Equal(t, all.charts[i*W:(i+1)*W], led.charts[i*W:(i+1)*W])
			continue
		}
		require.Equal(t, foot, led.places.y[3*i:3*i+3])
		d := rows.Distance(foot, all.places.y[3*i:3*i+3])
		moved += d * d
		require.Equal(t, led.about[aboutWidth*to:aboutWidth*(to+1)], led.about[aboutWidth*i:aboutWidth*(i+1)])
		require.Positive(t, led.places.trust[i])
	}
	require.Less(t, alone, x.N/5)
	require.Greater(t, alone, x.N/50, "there are edges")
	require.Less(t, math.Sqrt(moved/float64(x.N)), .25*s.Scale)
}

// TestPartOfCharts wants feet that are means of many charts to be nearly those of means of many more, and more rows with charts where the pilot doubts.
func TestPartOfCharts(t *testing.T) {
	needSpeed(t)
	x := bentSheet(1, 2*fewRows)
	d, s := fitAuto(t, x)
	a := d.prepared.Fitted.(*autoFit)
	w := newAutoWorker(a)
	require.Equal(t, s.oneIn, (&autoPrepare{autoSettings: a.autoSettings, n: x.N, D: 3}).oneIn(&s))
	require.Greater(t, s.oneIn, 2.)
	many, charted, doubtful := 0, 0., 0.
	for i := range x.N {
		has := 0.
		if w.hasChart(i) {
			has = 1
		}
		if in := s.standsFor(a.about, i); in < s.oneIn {
			many++
			doubtful += in * has
			continue
		}
		charted += s.oneIn * has
	}
	require.InEpsilon(t, x.N-many, charted, .05)
	require.InEpsilon(t, many, doubtful, .1)
	require.Greater(t, many, x.N/50)
	require.Less(t, many, x.N/4)
	some, err := d.Denoise(context.Background(), x, Options{})
	require.NoError(t, err)

	whole := &cloudCharts{autoFit: &autoFit{autoSettings: a.autoSettings, cloud: a.cloud, about: a.about, places: a.places}, ctx: context.Background()}
	whole.setting.oneIn = 1
	_, err = whole.chart(order{keep: true, setting: whole.setting})
	require.NoError(t, err)
	whole.countCharts()
	d.prepared.Fitted = whole.autoFit
	all, err := d.Denoise(context.Background(), x, Options{})
	require.NoError(t, err)
	var apart float64
	for i := range x.N {
		require.False(t, some.Rows[i].Unchanged)
		apart += math.Pow(rows.Distance(some.X[3*i:3*i+3], all.X[3*i:3*i+3]), 2)
	}
	require.Less(t, math.Sqrt(apart/float64(x.N)), .016*s.Scale)
}

// TestNearestChart wants the chart of the nearest place that has one, however far that is.
func TestNearestChart(t *testing.T) {
	d, _ := fitAuto(t, sphereSample(9, 300, .05).x)
	a := d.prepared.Fitted.(*autoFit)
	w := newAutoWorker(a)
	at, ok := w.nearestChart(7, a.places.y[21:24])
	require.True(t, ok)
	require.Equal(t, 7, at)
	only := 0
	for i := range a.cloud.N {
		a.charts[(i+1)*w.width-1] = standIn
		if rows.Distance(a.places.y[3*i:3*i+3], a.places.y[21:24]) > rows.Distance(a.places.y[3*only:3*only+3], a.places.y[21:24]) {
			only = i
		}
	}
	a.charts[(only+1)*w.width-1] = 1
	a.countCharts()
	at, ok = w.nearestChart(7, a.places.y[21:24])
	require.True(t, ok)
	require.Equal(t, only, at)
	a.charts[(only+1)*w.width-1] = noChart
	a.countCharts()
	_, ok = w.nearestChart(7, a.places.y[21:24])
	require.False(t, ok)
	_, ok = w.nearestChart(only, a.places.y[3*only:3*only+3])
	require.False(t, ok, "it determines no surface")
}

// TestLeadsOneIn wants all rows to have charts where these are few, where there is no noise, where they are split, and where rows are in classes.
func TestLeadsOneIn(t *testing.T) {
	p, err := newAutoPrepare(Auto{Latent: 2}, fewRows+1, 3)
	require.NoError(t, err)
	s := setting{noisy: true, neighbors: 60, pilot: true}
	require.EqualValues(t, pilotLeads, p.oneIn(&s))
	for _, change := range []func(*setting){func(s *setting) { s.noisy = false }, func(s *setting) { s.Sides = 1 }, func(s *setting) { s.neighbors = 100_000 }} {
		o := s
		change(&o)
		require.Equal(t, 1., p.oneIn(&o))
	}
	s.pilot, s.neighbors = false, 2*opinions*blendPart
	require.Equal(t, 2., p.oneIn(&s))
	s.neighbors = worthLeading * opinions * blendPart
	require.Equal(t, 1., p.oneIn(&s))
	few, err := newAutoPrepare(Auto{Latent: 2}, fewRows, 3)
	require.NoError(t, err)
	require.Equal(t, 1., few.oneIn(&s))
}

// TestStandsFor wants charts of rows that lead to count for others, for fewer where the pilot doubts, and for none in thin parts.
func TestStandsFor(t *testing.T) {
	about := []float64{1, 0, 0, 0, 1, 1.2}
	s := setting{oneIn: 6, neighbors: 300, noisy: true}
	require.Equal(t, 6., s.standsFor(append(make([]float64, aboutWidth), about...), 1))
	about[4] = 1.1 * doubtful
	require.Equal(t, 2.5, s.standsFor(about, 0), "the pilot doubts")
	for k := 2; k < 4; k++ {
		thin := slices.Clone(about)
		thin[k], thin[4] = 3, 1
		require.Equal(t, 1., s.standsFor(thin, 0))
	}
	s.neighbors = 90
	require.Equal(t, 1., s.standsFor(about, 0))
	s.oneIn, about[4] = 1, 1
	require.Equal(t, 1., s.standsFor(about, 0))
}

// TestLeadsInTiles wants rows to follow the same ones in tiles.
func TestLeadsInTiles(t *testing.T) {
	needSpeed(t)
	x := bentSheet(2, fewRows+200)
	d, s := fitAuto(t, x)
	require.Greater(t, s.oneIn, 2.)
	r, err := d.Denoise(context.Background(), x, Options{})
	require.NoError(t, err)
	requireSameInTiles(t, Auto{Latent: 2}, x, 3, .02, r)
}

// TestLeadsBeyond wants rows to be missed whose nearest lead may be beyond what is known.
func TestLeadsBeyond(t *testing.T) {
	x := bentSheet(3, 200)
	_, fresh := pilotOf(t, x)
	p := fresh()
	lead := p.leads(func(int) float64 { return pilotLeads })
	whole, err := p.followed(p.cloud.Used, lead)
	require.NoError(t, err)
	known := lookup.NewBox(3)
	known.Include([]float64{-.5, -.5, -1})
	known.Include([]float64{.5, .5, 1})
	p.places.index = lookup.KnownIndex{Index: p.places.index, Known: known}
	part, err := p.followed(p.cloud.Used, lead)
	require.NoError(t, err)
	missed := 0
	for i, to := range whole {
		require.Equal(t, lead[i], to == noLead)
		if part[i] == missedLead {
			missed++
			continue
		}
		require.Equal(t, to, part[i])
	}
	require.Greater(t, missed, x.N/2)
	require.Less(t, missed, x.N)
}
