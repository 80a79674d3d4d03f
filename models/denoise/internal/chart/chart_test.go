package chart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// TestShrinkage: distances of rows from charts that they pull towards themselves,
// divided by the shrinkage, have the variance of the noise in q directions,
// however strong the pull.
func TestShrinkage(t *testing.T) {
	const n, D, sigma = 40, 5, 0.01
	rng := rand.New(rand.NewPCG(1, 2))
	for _, own := range []float64{1, 20} {
		var raw, mean float64
		c := NewSurface(D, 1)
		x, prior, ones := make([]float64, n*D), make([]float64, n), slices.Repeat([]float64{1}, n)
		for range 400 {
			for i := range n {
				prior[i] = 1
				for j := range D {
					x[i*D+j] = sigma * rng.NormFloat64()
				}
				x[i*D] += float64(i-n/2) / n
			}
			prior[n/2] = own
			foot, at := make([]float64, D), make([]float64, D)
			pivot := x[n/2*D : (n/2+1)*D]
			gathered := Rows{x: x, near: x, Prior: prior, trust: ones, Next: 0.6, L: make([]float64, n)}
			for i := range n {
				far := rows.Distance(x[i*D:(i+1)*D], at)
				gathered.Found = append(gathered.Found, lookup.Near{Distance: far * far, Row: i})
			}
			require.True(t, c.Prepare(at, pivot, &gathered, &Setting{Cut: math.Inf(1), Rounds: 3}))
			require.True(t, c.Solve(0))
			require.True(t, c.Foot(foot, pivot))
			c.Influences(gathered.L)
			far := rows.Distance(pivot, foot)
			raw += far * far / 400
			far /= Shrinkage(gathered.L, n/2)
			mean += far * far / 400
		}
		require.Less(t, raw, 0.92*(D-1)*sigma*sigma)
		require.InDelta(t, 1, mean/((D-1)*sigma*sigma), 0.1, "weight %v", own)
	}
}

// BenchmarkChart is one chart of auto.
func BenchmarkChart(b *testing.B) {
	const n = 3000
	x, at := noisySphere(n, 0.05)
	for name, ch := range map[string]Chart{"space": &Space{}, "any": NewSurface(3, 2)} {
		for _, k := range []int{60, 243} {
			b.Run(fmt.Sprintf("%s/%d", name, k), func(b *testing.B) {
				gathered := NewRows(ch)
				foot := make([]float64, 3)
				i, source := 0, NewSource(x, x.X, nil)
				b.ReportAllocs()
				for b.Loop() {
					y := x.Row(i)
					gathered.Look(at, y, k)
					gathered.Gather(source, k)
					o := Setting{Ridge: 0.03, Scale: 0.05, Cut: 0.05 * 4.685, Rounds: 2}
					require.True(b, ch.Prepare(y, y, &gathered, &o) && ch.Solve(o.Ridge) && ch.Foot(foot, y))
					i = (i + 7) % n
				}
			})
		}
	}
}

// noisySphere is n rows about the unit sphere, with an index.
func noisySphere(n int, noise float64) (rows.Data, lookup.Index) {
	rng := rand.New(rand.NewPCG(1, 3))
	x, all := rows.Data{N: n, D: 3, X: make([]float64, 3*n)}, make([]int, n)
	for i := range n {
		all[i] = i
		at := x.Row(i)
		for j := range at {
			at[j] = rng.NormFloat64()
		}
		floats.Scale((1+noise*rng.NormFloat64())/floats.Norm(at, 2), at)
	}
	return x, lookup.NewIndex(x.X, 3, all)
}

// TestChartAgain: a chart that begins with weights and plane of one by least squares of the same rows is the chart made of them from nothing.
func TestChartAgain(t *testing.T) {
	x, at := noisySphere(400, .02)
	for _, ch := range []Chart{&Space{}, NewSurface(3, 2)} {
		r := NewRows(ch)
		stored := [2][]float64{make([]float64, ch.Width()), make([]float64, ch.Width())}
		for _, row := range []int{3, 50, 200} {
			y := x.Row(row)
			r.Look(at, y, 60)
			r.Gather(NewSource(x, x.X, nil), 60)
			robust := Setting{Ridge: .03, Scale: .02, Cut: .1, Rounds: 3, Steps: RobustSteps}
			for k := range stored {
				require.True(t, ch.Prepare(y, y, &r, &Setting{Ridge: .03, Cut: math.Inf(1), Rounds: 2}) && ch.Solve(.03))
				robust.Again = k == 1
				require.True(t, ch.Prepare(y, y, &r, &robust) && ch.Solve(.03))
				ch.Store(stored[k])
			}
			require.Equal(t, stored[0], stored[1])
		}
	}
}

// BenchmarkPooledCurvature is the mean curvature of 120 charts.
func BenchmarkPooledCurvature(b *testing.B) {
	x, at := noisySphere(400, .02)
	for name, ch := range map[string]Chart{"space": &Space{}, "surface": NewSurface(3, 2)} {
		b.Run(name, func(b *testing.B) {
			r, charts := NewRows(ch), make([][]float64, 120)
			for k := range charts {
				charts[k] = make([]float64, ch.Width())
				y := x.Row(k)
				r.Look(at, y, 60)
				r.Gather(NewSource(x, x.X, nil), 60)
				require.True(b, ch.Prepare(y, y, &r, &Setting{Cut: math.Inf(1), Rounds: 2}) && ch.Solve(0))
				ch.Store(charts[k])
			}
			w := NewDraw(ch)
			for b.Loop() {
				w.Begin(charts[0])
				for _, c := range charts {
					w.Include(c, 1)
				}
				w.End()
			}
		})
	}
}

// TestGather wants rows in space, which come from lines of the cache, to be those that all others are.
func TestGather(t *testing.T) {
	x, at := noisySphere(100, .05)
	places, trust := make([]float64, len(x.X)), make([]float64, x.N)
	x.Weights = make([]float64, x.N)
	for i := range x.N {
		trust[i], x.Weights[i] = float64(i), float64(1000+i)
		for j := range 3 {
			places[3*i+j] = x.X[3*i+j] + float64(10*j)
		}
	}
	for _, from := range []*Source{NewSource(x, places, trust), NewSource(x, places, nil)} {
		lanes, plain := NewRows(&Space{}), NewRows(NewSurface(3, 2))
		for most := 1; most < 24; most++ { // those that a kernel gathers at a time, with all that may be left
			for _, r := range []*Rows{&lanes, &plain} {
				r.Look(at, x.Row(7), most)
				r.Gather(from, most)
				require.Len(t, r.Found, most)
			}
			requireGathered(t, &lanes, &plain, from)
		}
	}
	require.Equal(t, 1., NewSource(x, places, nil).trusted(9))
}

// requireGathered requires the same of rows gathered by column and row by row.
func requireGathered(t *testing.T, lanes, plain *Rows, from *Source) {
	require.Equal(t, plain.Prior, lanes.Prior)
	require.Equal(t, plain.trust, lanes.trust)
	require.Equal(t, plain.Next, lanes.Next)
	for k, f := range plain.Found {
		require.Equal(t, f.Distance, lanes.columns[gatheredDistance*lanes.stride+k])
		for j := range 3 {
			require.Equal(t, plain.near[3*k+j], lanes.columns[(gatheredNear+j)*lanes.stride+k])
			require.Equal(t, plain.x[3*k+j], lanes.columns[(gatheredX+j)*lanes.stride+k])
		}
		require.Equal(t, float64(1000+f.Row), plain.Prior[k])
		require.Equal(t, from.trusted(f.Row), plain.trust[k])
	}
	for k := len(plain.Found); k < lanes.stride; k++ {
		require.Equal(t, math.Inf(1), lanes.columns[gatheredDistance*lanes.stride+k])
		for c := gatheredPrior; c < gatheredColumns; c++ {
			require.Zero(t, lanes.columns[c*lanes.stride+k])
		}
	}
}
