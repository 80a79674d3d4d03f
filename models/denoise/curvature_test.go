package denoise

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

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
		from := bend{u, make([]float64, c.d*c.d*c.D)}
		for a := range c.d {
			for j := range c.D {
				from.m[(a*c.d+a)*c.D+j] = -.5 * p[j]
			}
		}
		frame, q := point(angle(.7))
		got := make([]float64, len(from.m))
		total := carry.add(got, frame, from, 3)
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
		require.Zero(t, carry.add(got, frame, from, 1), "the frame is too far round")
	}
}

// TestDrawnCharts: a chart that is drawn to a curvature with a large ridge has it, for both kinds of charts.
func TestDrawnCharts(t *testing.T) {
	s := sphereSample(5, 400, .02)
	c, err := newCloud(s.x)
	require.NoError(t, err)
	at := c.newPlaces(s.x.X)
	y := s.clean.Row(3)
	axes := append(append([]float64{}, y...), 1, .2, .3, -.2, 1, .4)
	require.True(t, dense.OrthonormalizeRows(axes, 3))
	to := bend{axes[3:], make([]float64, 12)}
	for a, f := range []float64{-.8, .3, .3, -.2} {
		for j, v := range y {
			to.m[3*a+j] = f * v
		}
	}
	feet := make([]float64, 6)
	for k, ch := range []charter{&spaceChart{}, newChart(3, 2)} {
		var r chartRows
		_, r.lanes = ch.(*spaceChart)
		r.look(at.index, y, 60)
		r.gather(c, s.x.X, at, 60)
		r.bends = &draw{newCarrier(2, 3), to, make([]float64, 12)}
		o := setting{neighbors: 60, ridge: 1e8, scale: .02, cut: .1, rounds: 1}
		require.True(t, ch.prepare(y, y, &r, &o) && ch.solve(o.ridge) && ch.foot(feet[3*k:3*k+3], y))
		stored := make([]float64, ch.width())
		ch.store(stored)
		got := newBend(2, 3)
		ch.bend(got, stored)
		here, carry := make([]float64, 12), newCarrier(2, 3)
		total := carry.add(here, got.u, to, 1)
		dense.Scale(here, 1/total)
		require.InDeltaSlice(t, here, got.m, 1e-5)
	}
	require.InDeltaSlice(t, feet[:3], feet[3:], 1e-9)
}

// TestPooledCurvature: the curvature of a sphere is pooled, in tiles with the same bits; that of a cube is not.
func TestPooledCurvature(t *testing.T) {
	needSpeed(t)
	ctx, o := context.Background(), Options{Reach: math.Inf(1)}
	s := sphereSample(6, 300, .05)
	d, err := Fit(ctx, Auto{Latent: 2}, s.x, o)
	require.NoError(t, err)
	require.True(t, d.fitted.(*autoFit).setting.drawn)
	whole, err := d.Denoise(ctx, s.x, o)
	require.NoError(t, err)
	parts, _, err := InTiles(ctx, Auto{Latent: 2}, s.x, s.x, 3, Tiling{Halo: -1}, o)
	require.NoError(t, err)
	require.Equal(t, whole.X, parts.X)

	rng := rand.New(rand.NewPCG(6, 5))
	cube := s.x
	cube.N, cube.X = 1000, nil
	for range cube.N {
		r := []float64{rng.Float64() - .5, rng.Float64() - .5, rng.Float64() - .5}
		face := rng.IntN(6)
		r[face/2] = float64(face%2) - .5
		for _, v := range r {
			cube.X = append(cube.X, v+.01*rng.NormFloat64())
		}
	}
	d, err = Fit(ctx, Auto{Latent: 2}, cube, o)
	require.NoError(t, err)
	require.False(t, d.fitted.(*autoFit).setting.drawn)
}
