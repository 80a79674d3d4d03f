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
