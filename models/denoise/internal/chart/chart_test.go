package chart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

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
		require.Equal(t, f.Distance, lanes.columns[k])
		for j := range 3 {
			require.Equal(t, plain.near[3*k+j], lanes.columns[(gatheredNear+j)*lanes.stride+k])
			require.Equal(t, plain.x[3*k+j], lanes.columns[(gatheredX+j)*lanes.stride+k])
		}
		require.Equal(t, float64(1000+f.Row), plain.Prior[k])
		require.Equal(t, from.trusted(f.Row), plain.trust[k])
	}
	for k := len(plain.Found); k < lanes.stride; k++ {
		require.Equal(t, math.Inf(1), lanes.columns[k])
		for c := 1; c < gatheredColumns; c++ {
			require.Zero(t, lanes.columns[c*lanes.stride+k])
		}
	}
}
