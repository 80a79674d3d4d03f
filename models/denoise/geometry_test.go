package denoise

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/rows"
)

// ballSample is n rows near the sphere of a radius about the origin.
func ballSample(seed uint64, n, D int, radius, sigma float64) rows.Data {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := rows.Data{N: n, D: D}
	for range n {
		row, size := make([]float64, D), 0.0
		for j := range row {
			row[j] = rng.NormFloat64()
			size = math.Hypot(size, row[j])
		}
		for _, v := range row {
			x.X = append(x.X, radius*v/size+sigma*rng.NormFloat64())
		}
	}
	return x
}

func describeRows(t *testing.T, m Method, x rows.Data, side Orientation) (*Denoiser, *Result, *Geometry) {
	t.Helper()
	ctx := context.Background()
	d, err := Fit(ctx, m, x, Options{})
	require.NoError(t, err)
	r, err := d.Denoise(ctx, x, Options{})
	require.NoError(t, err)
	g, err := d.Geometry(ctx, x, r, side, Options{})
	require.NoError(t, err)
	return d, r, g
}

// TestGeometryOfSpheres wants the normals, curvatures and errors of spheres of any
// dimension and size.
func TestGeometryOfSpheres(t *testing.T) {
	for _, c := range []struct {
		D      int
		radius float64
	}{{3, 1}, {3, 50}, {2, 0.5}, {3, 0x1p-110}} {
		n := 600
		if c.D == 2 {
			n = 120
		}
		x := ballSample(3, n, c.D, c.radius, 0.03*c.radius)
		_, r, g := describeRows(t, classic.MLS{Latent: c.D - 1}, x, Orientation{})
		var off, claimed, bend, turned float64
		for i := range n {
			p, normal := r.X[i*c.D:(i+1)*c.D], g.Normals[i*c.D:(i+1)*c.D]
			size, along := rows.Distance(p, make([]float64, c.D)), 0.0
			for j, v := range normal {
				along += v * p[j] / size
			}
			require.Positive(t, along, "outwards, row %d of %v", i, c)
			turned += math.Acos(min(along, 1)) / float64(n)
			off += (size/c.radius - 1) * (size/c.radius - 1)
			claimed += g.Error[i] * g.Error[i] / c.radius / c.radius
			bend += g.Curvature[i] * c.radius / float64(n)
			first, last := g.Principal[i*(c.D-1)], g.Principal[(i+1)*(c.D-1)-1]
			assert.GreaterOrEqual(t, first, last)
			assert.InDelta(t, g.Curvature[i], (first+last)/2, 1e-9*math.Abs(first))
		}
		assert.Less(t, turned, 0.07, "radians on average, %v", c)
		assert.InDelta(t, 1, bend, 0.1, "%v", c)
		assert.InDelta(t, 1, math.Sqrt(off/claimed), 0.15, "errors are what they are said to be: %v", c)
	}
}

// TestGeometryOfCurves wants the curvature of a circle in four dimensions, where there
// are many normals.
func TestGeometryOfCurves(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := rows.Data{N: 200, D: 4}
	for i := range x.N {
		a := 2 * math.Pi * float64(i) / 200
		for _, v := range []float64{2 * math.Cos(a), 2 * math.Sin(a), 0, 1} {
			x.X = append(x.X, v+0.01*rng.NormFloat64())
		}
	}
	_, _, g := describeRows(t, classic.MLS{Latent: 1}, x, Orientation{})
	assert.Nil(t, g.Normals)
	assert.Nil(t, g.Principal)
	assert.InDelta(t, 0.5, core.Median(slices.Clone(g.Curvature)), 0.03)
	assert.Less(t, slices.Max(g.Score), 7.0)
	assert.Greater(t, core.Median(slices.Clone(g.Score)), 0.5)
	ctx := context.Background()
	d, err := Fit(ctx, classic.MLS{Latent: 1}, x, Options{})
	require.NoError(t, err)
	_, err = d.Geometry(ctx, x, &Result{X: x.X, Rows: make([]Row, x.N)}, Orientation{Viewpoint: make([]float64, 4)}, Options{})
	require.ErrorIs(t, err, ErrInput, "no normals to orient")
}

// TestOrientation wants the side that was asked for, in every way of asking.
func TestOrientation(t *testing.T) {
	x := ballSample(5, 300, 3, 1, 0.02)
	inwards := make([]float64, len(x.X))
	for i, v := range x.X {
		if i >= 3*100 { // the first hundred have none
			inwards[i] = -v
		}
	}
	for name, c := range map[string]struct {
		side  Orientation
		first float64
		rest  float64
	}{
		"consistent": {Orientation{}, 1, 1},
		"like":       {Orientation{Like: inwards}, 1, -1},
		"viewpoint":  {Orientation{Viewpoint: []float64{0, 0, 0}}, -1, -1},
	} {
		_, r, g := describeRows(t, classic.LPCA{Latent: 2}, x, c.side)
		for i := range x.N {
			var along float64
			for j := range 3 {
				along += g.Normals[3*i+j] * r.X[3*i+j]
			}
			want := c.first
			if i >= 100 {
				want = c.rest
			}
			require.Positive(t, along*want, "%s, row %d", name, i)
			require.Positive(t, g.Curvature[i]*want, "%s, row %d", name, i)
		}
	}
	d, r, _ := describeRows(t, classic.LPCA{Latent: 2}, x, Orientation{})
	for _, side := range []Orientation{{Like: inwards[1:]}, {Viewpoint: []float64{1}}, {Viewpoint: []float64{1, 2, math.NaN()}}, {Like: inwards, Viewpoint: make([]float64, 3)}} {
		_, err := d.Geometry(context.Background(), x, r, side, Options{})
		require.ErrorIs(t, err, ErrInput)
	}
}

// surveyed are a method whose charts describe the surface, and one that has charts made for that.
var surveyed = map[string]Method{"auto": Auto{Latent: 2}, "mls": classic.MLS{Latent: 2}}

// TestGeometryIsOfTheRow wants the bits that a row has alone, on one thread or three.
func TestGeometryIsOfTheRow(t *testing.T) {
	ctx := context.Background()
	x := ballSample(6, 400, 3, 1, 0.02)
	for name, m := range surveyed {
		d, r, all := describeRows(t, m, x, Orientation{})
		again, err := d.Geometry(ctx, x, r, Orientation{}, Options{Threads: 1})
		require.NoError(t, err)
		require.Equal(t, all, again, name)
		for _, i := range []int{0, 77, 199} {
			one := rows.Data{N: 1, D: 3, X: x.Row(i)}
			alone, err := d.Denoise(ctx, one, Options{})
			require.NoError(t, err)
			g, err := d.Geometry(ctx, one, alone, Orientation{}, Options{})
			require.NoError(t, err)
			require.Equal(t, all.Normals[3*i:3*i+3], g.Normals, name)
			require.Equal(t, []float64{all.Curvature[i], all.Error[i]}, []float64{g.Curvature[0], g.Error[0]})
		}
	}
}

// TestScoreFindsOutliers wants all rows far from the sphere above the limit, also those that their own charts follow, and
// hardly another.
func TestScoreFindsOutliers(t *testing.T) {
	x := ballSample(7, 500, 3, 1, 0.02)
	rng := rand.New(rand.NewPCG(9, 9))
	outliers := map[int]bool{}
	for i := 0; i < 500; i += 10 {
		outliers[i] = true
		far := 1.3 + rng.Float64()
		for j := range 3 {
			x.X[3*i+j] *= far
		}
	}
	x.X = append(x.X, 90, 90, 90) // and one without a surface
	x.N++
	outliers[500] = true
	for name, m := range surveyed {
		d, _, g := describeRows(t, m, x, Orientation{})
		assert.InDelta(t, 4.685, d.OutlierScore(), 0.01)
		var wrong int
		for i, v := range g.Score {
			if v > d.OutlierScore() != outliers[i] {
				wrong++
			}
		}
		assert.LessOrEqual(t, wrong, 3, name)
	}
}

// TestNormalsAtEdges wants the normals of a box to be those of the faces that points are on, but for a few at the edges and
// corners themselves.
func TestNormalsAtEdges(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	x := rows.Data{N: 6000, D: 3}
	for range x.N {
		p := [3]float64{2*rng.Float64() - 1, 2*rng.Float64() - 1, 2*rng.Float64() - 1}
		face := rng.IntN(6)
		p[face/2] = float64(2*(face%2) - 1)
		for _, v := range p {
			x.X = append(x.X, v+0.01*rng.NormFloat64())
		}
	}
	_, r, g := describeRows(t, Auto{Latent: 2}, x, Orientation{})
	var near, wrong int
	for i := range x.N {
		var from [3]float64 // the three planes
		face := 0
		for j, v := range r.X[3*i : 3*i+3] {
			if from[j] = math.Abs(math.Abs(v) - 1); from[j] < from[face] {
				face = j
			}
		}
		slices.Sort(from[:])
		if from[1] > 0.1 || from[1]-from[0] < 0.02 || r.Rows[i].Unchanged {
			continue
		}
		if near++; math.Abs(g.Normals[3*i+face]) < math.Cos(math.Pi/4) {
			wrong++
		}
	}
	require.Greater(t, near, 600)
	assert.Less(t, wrong, near/50)
}

// TestNoiseIsNotTheSlope wants the noise of a chart over a plane above which the
// surface is steep.
func TestNoiseIsNotTheSlope(t *testing.T) {
	x := ballSample(8, 2000, 3, 1, 0.02)
	_, r, _ := describeRows(t, Auto{Latent: 2, Neighbors: 150}, x, Orientation{})
	var all []float64
	for _, row := range r.Rows {
		all = append(all, row.Noise)
	}
	assert.InEpsilon(t, 0.02, core.Median(all), 0.03)
}
