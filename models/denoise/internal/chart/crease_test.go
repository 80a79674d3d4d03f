package chart

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// wedge has two half planes that meet in the z axis, at right angles but for a turn of all.
func wedge() crease {
	u, v := [3]float64{.6, .8, 0}, [3]float64{-.8, .6, 0}
	return crease{normal: [2][3]float64{u, v}, cosine: inner(&u, &v)}
}

// wedgeRows are rows about the z axis on both half planes, with noise.
func wedgeRows(rng *rand.Rand, n int, noise float64) rows.Data {
	k, x := wedge(), rows.Data{N: n, D: 3}
	for i := range n {
		side := i % 2
		along := rng.Float64() // away from where they meet: against the normal of the other
		off := noise * rng.NormFloat64()
		z := 2*rng.Float64() - 1
		for j := range 3 {
			v := off*k.normal[side][j] - along*k.normal[1-side][j]
			if j == 2 {
				v += z
			}
			x.X = append(x.X, v)
		}
	}
	return x
}

// chartAt makes the chart of all rows at the one nearest to a point, with their own places, and returns it.
func chartAt(t *testing.T, x rows.Data, at []float64, s *Setting) (*Space, *Rows, int) {
	t.Helper()
	all := make([]int, x.N)
	for i := range all {
		all[i] = i
	}
	c := &Space{}
	r := NewRows(c)
	index := lookup.NewIndex(x.X, 3, all)
	own := r.Search.Find(index, at, 1)[0].Row
	r.Look(index, x.Row(own), x.N-1)
	r.Gather(NewSource(x, x.X, nil), x.N-1)
	require.True(t, c.Prepare(x.Row(own), x.Row(own), &r, s))
	require.True(t, c.Solve(s.Ridge))
	return c, &r, own
}

func creaseSetting(noise float64) Setting {
	return Setting{Ridge: .03, Scale: noise, Cut: 4.685 * noise, Rounds: 3}
}

// TestCreaseOfTwoPlanes wants the half planes that rows were drawn from, and feet on the nearer of them.
func TestCreaseOfTwoPlanes(t *testing.T) {
	const noise = .02
	want := wedge()
	for seed := range uint64(20) {
		x := wedgeRows(rand.New(rand.NewPCG(seed, 7)), 160, noise)
		s := creaseSetting(noise)
		c, _, own := chartAt(t, x, []float64{0, 0, .1}, &s)
		require.True(t, c.TakeCrease(&s))
		var foot [3]float64
		require.True(t, c.Foot(foot[:], x.Row(own)))
		var ideal [3]float64
		want.foot(ideal[:], foot[:])
		require.Less(t, rows.Distance(foot[:], ideal[:]), noise)
		for side := range 2 { // the normals may be in the other order
			n := c.edge.normal[side]
			require.Greater(t, max(inner(&n, &want.normal[0]), inner(&n, &want.normal[1])), math.Cos(2.5*math.Pi/180))
		}
		require.InDelta(t, noise, c.Noise(), .15*noise)

		stored := make([]float64, c.Width())
		c.Store(stored)
		require.True(t, IsCrease(stored))
		var again Space
		require.True(t, again.Load(stored))
		var other [3]float64
		again.Foot(other[:], x.Row(own))
		require.InDeltaSlice(t, foot[:], other[:], 1e-12)
	}
}

// TestNoCrease wants quadratic charts where a surface is smooth.
func TestNoCrease(t *testing.T) {
	const noise = .02
	taken := 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 9))
		x := rows.Data{N: 160, D: 3}
		for range x.N {
			p, q := 2*rng.Float64()-1, 2*rng.Float64()-1
			x.X = append(x.X, p, q, .4*p*p-.2*p*q+noise*rng.NormFloat64())
		}
		s := creaseSetting(noise)
		c, _, _ := chartAt(t, x, []float64{0, 0, 0}, &s)
		if c.TakeCrease(&s) {
			taken++
		}
	}
	require.Zero(t, taken)
	x := wedgeRows(rand.New(rand.NewPCG(1, 7)), 160, noise)
	s := creaseSetting(noise)
	c, _, _ := chartAt(t, x, []float64{0, 0, 0}, &s)
	require.True(t, c.TakeCrease(&s))
	require.True(t, c.Solve(s.Ridge))
	require.False(t, c.creased, "the chart that has been solved again")
}

// foldRows are rows of two half planes that meet at an angle of 45 degrees.
func foldRows(rng *rand.Rand, n int, noise float64) rows.Data {
	x := rows.Data{N: n, D: 3}
	for i := range n {
		sin, cos := math.Sincos(math.Pi / 8 * float64(1-2*(i%2)))
		along, off := rng.Float64(), noise*rng.NormFloat64()
		x.X = append(x.X, along*cos-off*sin, along*sin+off*cos, 2*rng.Float64()-1)
	}
	return x
}

// TestSizeOfCreases wants none in charts less than ten times as large as the noise, however plain it is.
func TestSizeOfCreases(t *testing.T) {
	x := foldRows(rand.New(rand.NewPCG(2, 7)), 300, .01)
	s := creaseSetting(.01)
	c, _, _ := chartAt(t, x, []float64{0, 0, 0}, &s)
	for scale, want := range map[float64]bool{1.01: false, .99: true} {
		s := s
		s.Scale *= scale * c.h / creaseReach / s.Scale
		require.Equal(t, want, c.TakeCrease(&s), scale)
	}
}

// TestNeedOfCreases wants none looked for where the noise explains the distances of rows, and none found where these are of one plane.
func TestNeedOfCreases(t *testing.T) {
	const noise = .02
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 11))
		x := rows.Data{N: 160, D: 3}
		for range x.N {
			x.X = append(x.X, 2*rng.Float64()-1, 2*rng.Float64()-1, noise*rng.NormFloat64())
		}
		s := creaseSetting(noise)
		c, _, _ := chartAt(t, x, []float64{0, 0, 0}, &s)
		s.Scale *= 1.3
		require.False(t, c.fit.begin(c, &s))
		s.Scale /= 2
		require.True(t, c.fit.begin(c, &s))
		require.False(t, c.fit.search(c))
	}
}

// TestSurelyNearer wants the sum of differences to be so many standard errors.
func TestSurelyNearer(t *testing.T) {
	const n = 100
	l := &spaceLanes{groups: upToLanes(n) / lanes, stride: upToLanes(n), own: make([]float64, spaceColumns*upToLanes(n))}
	f := creaseFit{lanes: l, before: make([]float64, n), table: creaseTable{bound: 9}}
	for _, c := range []struct {
		mean float64 // in standard errors
		want bool
	}{{creaseSure + .1, true}, {creaseSure - .1, false}, {-creaseSure - .1, false}} {
		for i := range n {
			l.column(spaceWeight)[i], l.column(spaceSquare)[i] = 1, 3
			f.before[i] = 3 + c.mean/math.Sqrt(n-c.mean*c.mean) + float64(1-2*(i%2))
		}
		require.Equal(t, c.want, f.surely(), c.mean)
	}
}

// TestOneSearch wants one search for charts of the same rows with several ridges, and another for other rows.
func TestOneSearch(t *testing.T) {
	const noise = .02
	s := creaseSetting(noise)
	x := wedgeRows(rand.New(rand.NewPCG(1, 7)), 160, noise)
	c, r, own := chartAt(t, x, []float64{0, 0, 0}, &s)
	require.True(t, c.TakeCrease(&s))
	first := c.edge
	c.fit.crease.at[0]++
	require.True(t, c.Solve(.1))
	require.True(t, c.TakeCrease(&s))
	require.Equal(t, first.at[0]+1, c.edge.at[0])
	require.True(t, c.Prepare(x.Row(own), x.Row(own), r, &s))
	require.True(t, c.Solve(s.Ridge))
	require.True(t, c.TakeCrease(&s))
	require.Equal(t, first, c.edge)
}

// TestCreaseInfluences wants a plane of least squares on either side: influences on a foot on a face add up to 1, and those times places to the foot.
func TestCreaseInfluences(t *testing.T) {
	const noise = .02
	x := wedgeRows(rand.New(rand.NewPCG(3, 7)), 160, noise)
	s := creaseSetting(noise)
	c, r, _ := chartAt(t, x, []float64{0, 0, 0}, &s)
	require.True(t, c.TakeCrease(&s))
	foot := make([]float64, 3)
	for side := range 2 {
		var at [3]float64 // on the face, away from where they meet
		for j := range at {
			at[j] = c.edge.at[j] - .3*c.edge.normal[1-side][j]
		}
		c.Foot(foot, at[:])
		require.True(t, c.footOn[side])
		require.False(t, c.footOn[1-side])
		var sum float64
		var mean [3]float64
		for k := range r.Found {
			v := c.Influence(k) / creaseSought
			sum += v
			for j := range mean {
				mean[j] += v * x.Row(r.Found[k].Row)[j]
			}
		}
		require.InDelta(t, 1, sum, 1e-9)
		// Across the plane the mean is what the last turn has moved; along it it is the foot.
		across := inner(&c.edge.normal[side], &mean) - inner(&c.edge.normal[side], (*[3]float64)(foot))
		for j := range mean {
			require.InDelta(t, foot[j], mean[j]-across*c.edge.normal[side][j], 1e-9)
		}
		require.InDelta(t, 0, across, 1e-2*noise)
	}
}

// TestCreaseDistances wants what kernels say of rows to be what feet say, and both to be the nearest of many points.
func TestCreaseDistances(t *testing.T) {
	const noise = .05
	x := wedgeRows(rand.New(rand.NewPCG(4, 7)), 160, noise)
	s := creaseSetting(noise)
	c, r, _ := chartAt(t, x, []float64{0, 0, 0}, &s)
	require.True(t, c.TakeCrease(&s))
	far := make([]float64, len(r.Found))
	c.Residuals(far)
	var foot [3]float64
	for k, f := range r.Found {
		c.Foot(foot[:], x.Row(f.Row))
		require.InDelta(t, rows.Distance(foot[:], x.Row(f.Row)), far[k], 1e-12)
		require.InDelta(t, far[k], c.Beside(x.Row(f.Row)), 1e-12)
	}
	rng := rand.New(rand.NewPCG(5, 7))
	line := cross(c.edge.normal[0], c.edge.normal[1])
	norm := math.Sqrt(inner(&line, &line))
	for range 50 {
		point := [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		c.Foot(foot[:], point[:])
		least := rows.Distance(foot[:], point[:])
		for range 400 {
			side := rng.IntN(2)
			n := c.edge.normal[side]
			away := cross(line, n)
			if inner(&away, &c.edge.normal[1-side]) > 0 {
				away = cross(n, line)
			}
			on, t1, t2 := c.edge.at, 3*rng.Float64()/norm, rng.NormFloat64()/norm
			for j := range on {
				on[j] += t1*away[j] + t2*line[j]
			}
			require.GreaterOrEqual(t, rows.Distance(on[:], point[:]), least-1e-12)
		}
	}
}
