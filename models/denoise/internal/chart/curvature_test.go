package chart

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// TestCurvatureIsCarried: a sphere bends everywhere as it does anywhere, and so does a circle in four columns.
func TestCurvatureIsCarried(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 81))
	for _, c := range []struct{ d, D int }{{2, 3}, {1, 4}} {
		span := make([]float64, (c.d+1)*c.D) // of the sphere
		for i := range span {
			span[i] = rng.NormFloat64()
		}
		require.True(t, dense.OrthonormalizeRows(span, c.D))
		point := func(at []float64) (frame, p []float64) {
			p, frame = make([]float64, c.D), make([]float64, 0, c.d*c.D)
			for j := range c.D {
				for a, v := range at {
					p[j] += v * span[a*c.D+j]
				}
			}
			axes := append([]float64{}, p...)
			for range c.d {
				turn := make([]float64, c.d+1)
				for a := range turn {
					turn[a] = rng.NormFloat64()
				}
				for j := range c.D {
					var v float64
					for a, f := range turn {
						v += f * span[a*c.D+j]
					}
					axes = append(axes, v)
				}
			}
			require.True(t, dense.OrthonormalizeRows(axes, c.D))
			return append(frame, axes[c.D:]...), p
		}
		angle := func(v float64) []float64 {
			return append([]float64{math.Cos(v), math.Sin(v)}, make([]float64, c.d-1)...)
		}
		carry := newCarrier(c.d, c.D)
		u, p := point(angle(0))
		from := Bend{u, make([]float64, c.d*c.d*c.D)}
		for a := range c.d {
			for j := range c.D {
				from.M[(a*c.d+a)*c.D+j] = -.5 * p[j]
			}
		}
		frame, q := point(angle(.7))
		got := make([]float64, len(from.M))
		total := carry.Add(got, frame, from, 3)
		require.InDelta(t, 3*math.Pow(math.Cos(.7), 2), total, 1e-12)
		for a := range c.d {
			for b := range c.d {
				for j := range c.D {
					want := 0.0
					if a == b {
						want = -.5 * q[j]
					}
					require.InDelta(t, want, got[(a*c.d+b)*c.D+j]/total, 1e-12)
				}
			}
		}
		frame, _ = point(angle(1.4))
		require.Zero(t, carry.Add(got, frame, from, 1), "the frame is too far round")
	}
}

// randomFrame draws two orthonormal rows in space and their cross product.
func randomFrame(rng *rand.Rand) (u, v, n [3]float64) {
	axes := make([]float64, 6)
	for i := range axes {
		axes[i] = rng.NormFloat64()
	}
	dense.OrthonormalizeRows(axes, 3)
	u, v = [3]float64(axes), [3]float64(axes[3:])
	return u, v, cross(u, v)
}

// TestCurvatureIsCarriedInSpace: in space curvature is carried as it is elsewhere, with normals of either side.
func TestCurvatureIsCarriedInSpace(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 81))
	carry, near := newCarrier(2, 3), [2]int{}
	for range 300 {
		var from, to spaceBend
		var fromN, toN [3]float64
		from.u, from.v, fromN = randomFrame(rng)
		to.u, to.v, toN = randomFrame(rng)
		from.m = [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		b := NewBend(2, 3)
		copy(b.U, append(from.u[:], from.v[:]...))
		for j, n := range fromN {
			b.M[j], b.M[3+j], b.M[6+j], b.M[9+j] = from.m[0]*n, from.m[1]*n, from.m[1]*n, from.m[2]*n
		}
		want, got := make([]float64, 12), make([]float64, 12)
		total := carry.Add(want, append(to.u[:], to.v[:]...), b, 1)
		m, square := from.in(&to)
		require.InDelta(t, total, square, 1e-12)
		if total == 0 {
			require.Zero(t, m)
			continue
		}
		if dense.Dot(fromN[:], toN[:]) > 0 {
			near[0]++
		} else {
			near[1]++
		}
		for j, n := range toN {
			got[j], got[3+j], got[6+j], got[9+j] = m[0]*n, m[1]*n, m[1]*n, m[2]*n
		}
		dense.Scale(want, 1/total)
		require.InDeltaSlice(t, want, got, 1e-11)
	}
	require.Positive(t, min(near[0], near[1]))
}

// storeBend is a stored chart in space at a point that bends so much.
func storeBend(at []float64, u, v, m [3]float64) []float64 {
	c := Space{o: [3]float64(at), u: u, v: v, h: .5}
	c.b = [spaceTerms]float64{0, 0, 0, m[0] * c.h, 2 * m[1] * c.h, m[2] * c.h}
	stored := make([]float64, c.Width())
	c.Store(stored)
	return stored
}

// inGeneral is a stored chart in space as it is stored of surfaces in general.
func inGeneral(stored []float64) []float64 {
	var c Space
	c.Load(stored)
	s := NewSurface(3, 2)
	copy(s.o, c.o[:])
	copy(s.u, append(c.u[:], c.v[:]...))
	for i, v := range c.b {
		for j, n := range c.n {
			s.b[3*i+j] = v * n * c.h
		}
	}
	s.unit = c.h
	to := make([]float64, s.Width())
	s.Store(to)
	return to
}

// TestDrawnCharts: a chart that is drawn to the mean curvature of others with a large ridge has it, for both kinds of charts, which agree.
func TestDrawnCharts(t *testing.T) {
	x, at := noisySphere(400, .02)
	y := slices.Clone(x.Row(3))
	floats.Scale(1/floats.Norm(y, 2), y)
	axes := append(append([]float64{}, y...), 1, .2, .3, -.2, 1, .4)
	require.True(t, dense.OrthonormalizeRows(axes, 3))
	others := [][]float64{
		storeBend(y, [3]float64(axes[3:]), [3]float64(axes[6:]), [3]float64{-.8, .3, -.2}),
		storeBend(y, [3]float64(axes[6:]), [3]float64(axes[3:]), [3]float64{.5, -.1, .4}), // its normal is on the other side
	}
	want := [3]float64{-.8*.25 + -.4*.75, .3*.25 + .1*.75, -.2*.25 + -.5*.75}
	feet := make([]float64, 6)
	for k, ch := range []Chart{&Space{}, NewSurface(3, 2)} {
		r := NewRows(ch)
		r.Look(at, y, 60)
		r.Gather(NewSource(x, x.X, nil), 60)
		r.Bends = NewDraw(ch)
		stored := func(i int) []float64 {
			if k == 0 {
				return others[i]
			}
			return inGeneral(others[i])
		}
		r.Bends.Begin(stored(0))
		require.False(t, r.Bends.End(), "no chart counts")
		r.Bends.Include(stored(0), .5)
		r.Bends.Include(stored(1), 1.5)
		require.True(t, r.Bends.End())
		o := Setting{Ridge: 1e8, Scale: .02, Cut: .1, Rounds: 1}
		require.True(t, ch.Prepare(y, y, &r, &o) && ch.Solve(o.Ridge) && ch.Foot(feet[3*k:3*k+3], y))
		if c, ok := ch.(*Space); ok {
			made := make([]float64, c.Width())
			c.Store(made)
			var to, here spaceBend
			to.read(others[0])
			to.m = want
			here.read(made)
			carried, _ := to.in(&here)
			require.InDeltaSlice(t, carried[:], here.m[:], 1e-5)
		}
	}
	require.InDeltaSlice(t, feet[:3], feet[3:], 1e-9)
}
