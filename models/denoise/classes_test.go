package denoise

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// noisySheet is a square of side 2 in space with noise that is larger than the distances of its rows.
func noisySheet(n int, noise float64) rows.Data {
	rng := rand.New(rand.NewPCG(7, 106))
	x := rows.Data{N: n, D: lookup.Space}
	for range n {
		s, t := 2*rng.Float64()-1, 2*rng.Float64()-1
		x.X = append(x.X, s+noise*rng.NormFloat64(), t+noise*rng.NormFloat64(), .2*s*s+noise*rng.NormFloat64())
	}
	return x
}

// TestTilesOfClasses: where charts are made of classes of rows tiles give the bits of one cloud, whatever the number of
// goroutines, and the surface is nearer than with the largest number of neighbours without.
func TestTilesOfClasses(t *testing.T) {
	needSpeed(t)
	n, noise := 2400, .15
	if drill.Whole() { // the pilot has classes too
		n, noise = 12000, .09
	}
	x, ctx := noisySheet(n, noise), context.Background()
	m := Auto{Latent: 2}
	d, err := Fit(ctx, m, x, Options{Threads: 1})
	require.NoError(t, err)
	a := d.prepared.Fitted.(*autoFit)
	require.GreaterOrEqual(t, a.setting.neighbors, farBeyond*maxNeighbors)
	require.NotNil(t, a.places.classes)
	want, err := d.Denoise(ctx, x, Options{Threads: 3})
	require.NoError(t, err)
	got, _, err := inTiles(m, x, 4, .1, Options{Threads: 2})
	require.NoError(t, err)
	require.Equal(t, want.X, got.X)
	require.Equal(t, want.Rows, got.Rows)
	few, err := wholeCloud(Auto{Latent: 2, Neighbors: 273}, x, Options{})
	require.NoError(t, err)
	off := func(r *Result) (sum float64) {
		for i := range n {
			if y := r.X[i*lookup.Space : (i+1)*lookup.Space]; max(math.Abs(y[0]), math.Abs(y[1])) < .8 {
				sum += (y[2] - .2*y[0]*y[0]) * (y[2] - .2*y[0]*y[0])
			}
		}
		return sum
	}
	require.Less(t, off(want), off(few))
}

// TestClasses: every row is in one class, by its number among all, and mixed has rows of all.
func TestClasses(t *testing.T) {
	x := noisySheet(3000, .1)
	c, err := core.NewCloud(x)
	require.NoError(t, err)
	p := places{y: c.X, index: c.Index}
	p.divide(c, 8)
	var count [8]int
	var s lookup.Search
	for i := range c.N {
		count[p.classes.class[i]]++
		found := s.Find(p.near(i), c.Row(i), 1)
		require.Equal(t, i, found[0].Row)
	}
	for _, n := range count {
		require.InDelta(t, 3000/8, n, 4*math.Sqrt(3000./8))
	}
	mixed := map[uint16]int{}
	for _, f := range s.Find(p.mixed(), c.Row(0), c.N) {
		mixed[p.classes.class[f.Row]]++
	}
	require.Len(t, mixed, 8)

	part := &Cloud{Data: rows.Data{N: 2000, D: lookup.Space, X: c.X[1000*lookup.Space:]}, Others: 1000}
	for i := range part.N {
		part.Used, part.Number = append(part.Used, i), append(part.Number, 1000+i)
	}
	q := places{y: part.X, index: lookup.NewIndex(part.X, lookup.Space, part.Used)}
	q.divide(part, 8)
	require.Equal(t, p.classes.class[1000:], q.classes.class)
	p.divide(c, 1)
	require.Nil(t, p.classes)
}

// TestEvery: classes are as many as leave charts with a few hundred rows, and none where a number was asked for.
func TestEvery(t *testing.T) {
	a := newAutoSettings(Auto{Latent: 2}, lookup.Space)
	for _, c := range []struct {
		s             setting
		charts, every int
	}{
		{setting{neighbors: 300}, 100000, 1},
		{setting{neighbors: 301}, 100000, 2},
		{setting{neighbors: 1200}, 100000, 4},
		{setting{neighbors: 1201}, 100000, 8},
		{setting{neighbors: 600, Setting: chart.Setting{Sides: 1}}, 100000, 1},
		{setting{neighbors: 600, pilot: true}, 100000, 1},
		{setting{neighbors: 2000, pilot: true}, 100000, 4},
		{setting{neighbors: 1000, pilot: true}, 10000, 1},
	} {
		require.Equal(t, c.every, a.every(&c.s, c.charts), c)
	}
	a.method.Neighbors = 1000
	require.Equal(t, 1, a.every(&setting{neighbors: 1000}, 100000))
}
