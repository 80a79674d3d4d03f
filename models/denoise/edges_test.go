package denoise

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/rows"
)

// boxRows are rows of the surface of a cube of diagonal 1, with noise in % of that; off is the root mean square distance from the surface, in %.
func boxRows(seed uint64, n int, noise float64) (x rows.Data, off func(y []float64) float64) {
	cube := boxMesh(1, 1, 1)
	cube.scale()
	rng := rand.New(rand.NewPCG(seed, 81))
	x = rows.Data{N: n, D: 3}
	for _, p := range cube.sample(n, rng, nil) {
		for _, v := range p {
			x.X = append(x.X, v+noise/100*rng.NormFloat64())
		}
	}
	near := newMeshIndex(cube, .02)
	return x, func(y []float64) float64 {
		var sum float64
		for i := range n {
			v := near.far([3]float64(y[3*i : 3*i+3]))
			sum += v * v
		}
		return 100 * math.Sqrt(sum/float64(n))
	}
}

// scaledBumps is a mesh without edges, of diagonal 1.
func scaledBumps() *mesh {
	m := bumpyMesh()
	m.scale()
	return m
}

// fitAuto fits a surface in space.
func fitAuto(t *testing.T, x rows.Data) (*Denoiser, setting) {
	t.Helper()
	d, err := Fit(context.Background(), Auto{Latent: 2}, x, Options{})
	require.NoError(t, err)
	return d, d.prepared.Fitted.(*autoFit).setting
}

// TestChartsGrowFromEdges wants charts of clouds with edges to grow, which loses fewer rows near these, and the same in tiles; charts made at once
// leave .34, .90, .40 and .4 %, of noise of .5, .2, .2 and .2. Of the last the risk alone would not say so.
func TestChartsGrowFromEdges(t *testing.T) {
	needSpeed(t)
	for _, c := range []struct {
		seed        uint64
		n           int
		noise, most float64
		tiles       bool
	}{{101, 1500, .5, .29, true}, {100, 300, .2, .5, false}, {101, 1500, .2, .25, false}, {3000, 1500, .2, .25, false}} {
		x, off := boxRows(c.seed, c.n, c.noise)
		d, s := fitAuto(t, x)
		require.GreaterOrEqual(t, s.from, edgeRows)
		require.False(t, s.uneven, "edges are no noise that is uneven")
		r, err := d.Denoise(context.Background(), x, Options{})
		require.NoError(t, err)
		require.Less(t, off(r.X), c.most)
		if c.tiles {
			requireSameInTiles(t, Auto{Latent: 2}, x, 2, .05, r)
		}
	}
}

// TestCreases wants charts of many points to be creases near edges, the same in tiles: charts that grow from few rows leave .18 and .10 % of noise of .5 and .2. Surfaces without edges,
// rows without outliers or noise, and few rows have none.
func TestCreases(t *testing.T) {
	needSpeed(t)
	for _, c := range []struct {
		seed        uint64
		noise, most float64
		tiles       bool
	}{{104, .5, .1, true}, {105, .2, .07, false}} {
		x, off := boxRows(c.seed, 5000, c.noise)
		d, s := fitAuto(t, x)
		require.True(t, s.creased)
		r, err := d.Denoise(context.Background(), x, Options{})
		require.NoError(t, err)
		require.Less(t, off(r.X), c.most)
		a := d.prepared.Fitted.(*autoFit)
		w, creases, near := newAutoWorker(a), 0, 0
		half := .5 / math.Sqrt(3)
		for i := range x.N {
			if !w.hasChart(i) || !chart.IsCrease(w.stored(i)) {
				continue
			}
			creases++
			within := 0
			for _, v := range x.Row(i) {
				if math.Abs(v-half) > .7*half {
					within++
				}
			}
			if within > 1 {
				near++
			}
		}
		require.Greater(t, creases, 300)
		require.Greater(t, float64(near), .8*float64(creases))
		if c.tiles {
			requireSameInTiles(t, Auto{Latent: 2}, x, 3, .05, r)
		}
	}
	p, _ := pilotOf(t, sphereSample(8, fewRows+100, .03).x)
	s := p.setting
	require.True(t, p.mayCrease(&s))
	for _, change := range []func(*setting, *autoPrepare){
		func(s *setting, _ *autoPrepare) { s.noisy = false }, func(s *setting, _ *autoPrepare) { s.Cut = math.Inf(1) }, func(_ *setting, p *autoPrepare) { p.n = fewRows },
	} {
		s, of := s, *p
		change(&s, &of)
		require.False(t, of.mayCrease(&s))
	}
	w := newAutoWorker(&autoFit{autoSettings: p.autoSettings, cloud: &Cloud{Data: rows.Data{D: 3}}})
	for _, s := range []setting{{}, {creased: true, start: 16}, {creased: true, Setting: chart.Setting{Sides: 1}}} {
		require.False(t, w.takeCrease(&s))
	}
}

// meanAngle is that of normals to those of the nearest faces of a box from boxRows, in degrees.
func meanAngle(t *testing.T, d *Denoiser, x rows.Data, r *Result) (sum float64) {
	t.Helper()
	g, err := d.Geometry(context.Background(), x, r, Orientation{}, Options{})
	require.NoError(t, err)
	half := .5 / math.Sqrt(3)
	for i := range x.N {
		face, most := 0, 0.0
		for j, v := range r.X[3*i : 3*i+3] {
			if far := math.Abs(v - half); far > most {
				face, most = j, far
			}
		}
		sum += math.Acos(min(math.Abs(g.Normals[3*i+face]), 1)) / float64(x.N) * 180 / math.Pi
	}
	return sum
}

// TestNormalsNearEdges wants charts of normals to grow as well, or to be those of the face that a point is on: one at once of as many rows lies between faces.
func TestNormalsNearEdges(t *testing.T) {
	needSpeed(t)
	for _, c := range []struct {
		seed       uint64
		n          int
		most, part float64 // degrees, and of those of charts at once
	}{{101, 1500, 11, .75}, {104, 5000, 3, .3}} {
		x, _ := boxRows(c.seed, c.n, .5)
		d, s := fitAuto(t, x)
		require.Equal(t, c.n <= fewRows, s.from > 0)
		require.Equal(t, c.n > fewRows, s.creased)
		r, err := d.Denoise(context.Background(), x, Options{})
		require.NoError(t, err)
		known := meanAngle(t, d, x, r)
		a := d.prepared.Fitted.(*autoFit)
		a.setting.from, a.setting.creased = 0, false
		require.Less(t, known, c.most)
		require.Less(t, known, c.part*meanAngle(t, d, x, r))
	}
}

// TestKeepSide wants the last charts of the pilot to lose fewer rows to other faces than its charts made at once.
func TestKeepSide(t *testing.T) {
	needSpeed(t)
	x, _ := boxRows(100, 1500, .2)
	c, err := core.NewCloud(x)
	require.NoError(t, err)
	p, _, err := newPilot(context.Background(), Auto{Latent: 2}, c, Options{})
	require.NoError(t, err)
	require.True(t, p.setting.keepsSides)
	s := p.setting
	s.thin = false
	lost := func(keeps bool) int {
		fresh := newCloudCharts(context.Background(), p.autoSettings, c, Options{})
		s.keepsSides = keeps
		_, err := fresh.chart(order{keep: true, setting: s})
		require.NoError(t, err)
		return countZeros(fresh.places.trust)
	}
	kept, once := lost(true), lost(false)
	require.Less(t, 3*kept, 2*once)
}

// countZeros counts the rows that do not count.
func countZeros(trust []float64) (n int) {
	for _, v := range trust {
		if v == 0 {
			n++
		}
	}
	return n
}

// TestChartsDoNotGrow: without edges growing charts pay for nothing.
func TestChartsDoNotGrow(t *testing.T) {
	needSpeed(t)
	for _, x := range []rows.Data{sphereSample(7, 300, .06).x, sphereSample(8, 1500, .03).x} {
		_, s := fitAuto(t, x)
		require.Zero(t, s.from)
	}
	_, s := fitAuto(t, unevenSample(2, 1500).x)
	require.Zero(t, s.from)
	require.True(t, s.uneven, "charts that grow see it as well")
	x, _ := scanCase{n: 1500, noise: .5, kind: "outliers"}.draw(scaledBumps(), 600)
	_, s = fitAuto(t, x)
	require.False(t, s.uneven)
	require.Zero(t, s.from, "outliers that are close together are no face")
}

// TestSurelyBetter: a risk has to be less by a part that matters, and beyond chance.
func TestSurelyBetter(t *testing.T) {
	const n = 400
	rng := rand.New(rand.NewPCG(1, 2))
	by := func(mean, deviation float64) (*compared, *compared) {
		a, b := newCompared(candidate{}, n), newCompared(candidate{}, n)
		a.risk, b.risk = make([]float64, n), make([]float64, n)
		for i := range n / 2 {
			v := deviation * rng.NormFloat64()
			for k, v := range []float64{v, -v} { // the mean of the difference is exact
				b.risk[2*i+k] = 1
				a.risk[2*i+k] = 1 + mean + v
			}
		}
		return a, b
	}
	for _, c := range []struct {
		mean, deviation float64
		better          bool
	}{{-.05, .1, true}, {-.05, 5, false}, {-.02, .1, false}, {.05, .1, false}} {
		a, b := by(c.mean, c.deviation)
		require.Equal(t, c.better, a.surelyBetter(b), "%v", c)
	}
	a, _ := by(0, 0)
	require.False(t, a.surelyBetter(a))
}

// TestFewPointsCrease wants few points along rays on a cube, where charts do not grow, to have charts that are creases, which bring them nearer to it than they came, and smooth
// surfaces to do without, as clouds with even noise, where charts grow; the same in tiles. The curvature of creases is not shared.
func TestFewPointsCrease(t *testing.T) {
	needSpeed(t)
	for _, c := range []struct {
		mesh, kind string
		creased    bool
		most       float64 // of the error of the points as they came
	}{{"cube", "rays", true, .75}, {"bumpy", "rays", false, .8}, {"cube", "", false, .75}} {
		scan := scanCase{mesh: c.mesh, n: 1500, noise: .5, kind: c.kind}
		surface, err := scan.surface()
		require.NoError(t, err)
		x, _ := scan.draw(surface, 760)
		d, s := fitAuto(t, x)
		require.Equal(t, c.kind == "rays", s.uneven)
		require.Equal(t, s.uneven, s.from == 0)
		require.Equal(t, c.creased, s.creased, c.mesh)
		r, err := d.Denoise(context.Background(), x, Options{})
		require.NoError(t, err)
		near := newMeshIndex(surface, .02)
		off := func(y []float64) (sum float64) {
			for i := range x.N {
				v := near.far([3]float64(y[3*i : 3*i+3]))
				sum += v * v
			}
			return math.Sqrt(sum)
		}
		require.Less(t, off(r.X), c.most*off(x.X), c.mesh)
		requireSameInTiles(t, Auto{Latent: 2}, x, 3, .05, r)
	}
	require.NoError(t, (&autoPrepare{n: 1500, autoSettings: autoSettings{setting: setting{noisy: true, creased: true}}}).pool(), "it makes no charts")
}
