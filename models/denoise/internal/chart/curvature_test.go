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

// TestDrawnCharts: a chart that is drawn to a curvature with a large ridge has it, for both kinds of charts.
func TestDrawnCharts(t *testing.T) {
	x, at := noisySphere(400, .02)
	y := slices.Clone(x.Row(3))
	floats.Scale(1/floats.Norm(y, 2), y)
	axes := append(append([]float64{}, y...), 1, .2, .3, -.2, 1, .4)
	require.True(t, dense.OrthonormalizeRows(axes, 3))
	to := Bend{axes[3:], make([]float64, 12)}
	for a, f := range []float64{-.8, .3, .3, -.2} {
		for j, v := range y {
			to.M[3*a+j] = f * v
		}
	}
	feet := make([]float64, 6)
	for k, ch := range []Chart{&Space{}, NewSurface(3, 2)} {
		r := NewRows(ch)
		r.Look(at, y, 60)
		r.Gather(x, x.X, x.X, nil, 60)
		r.Bends = &Draw{newCarrier(2, 3), to, make([]float64, 12)}
		o := Setting{Ridge: 1e8, Scale: .02, Cut: .1, Rounds: 1}
		require.True(t, ch.Prepare(y, y, &r, &o) && ch.Solve(o.Ridge) && ch.Foot(feet[3*k:3*k+3], y))
		stored := make([]float64, ch.Width())
		ch.Store(stored)
		got := NewBend(2, 3)
		ch.Bend(got, stored)
		here, carry := make([]float64, 12), newCarrier(2, 3)
		total := carry.Add(here, got.U, to, 1)
		dense.Scale(here, 1/total)
		require.InDeltaSlice(t, here, got.M, 1e-5)
	}
	require.InDeltaSlice(t, feet[:3], feet[3:], 1e-9)
}
