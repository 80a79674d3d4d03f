package core

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/rows"
)

// TestShuffled wants the same rows in the same order whatever theirs was, in any unit, from any origin, and with rows of weight 0.
func TestShuffled(t *testing.T) {
	const n, D = 3000, 3
	rng := rand.New(rand.NewPCG(1, 1))
	x := rows.Data{N: n, D: D, X: make([]float64, n*D)}
	for i := range x.X {
		x.X[i] = rng.NormFloat64()
	}
	x.X[5] = 1e9 // one outlier takes no cells from others
	want := Shuffled(x)
	change := func(unit, origin float64) rows.Data {
		var y rows.Data
		for _, i := range rng.Perm(n) {
			for range 1 + i%2 {
				for _, v := range x.Row(i) {
					y.X = append(y.X, v*unit+origin)
				}
				y.N++
				y.Weights = append(y.Weights, 1/float64(1+i%2))
			}
		}
		y.D, y.N = D, y.N+1
		y.X, y.Weights = append(y.X, 7, 8, 9), append(y.Weights, 0)
		return y
	}
	for _, c := range [][2]float64{{1, 0}, {0x1p-40, 0}, {1e-6, 0}, {1e6, 0}, {1, 1e3}} {
		got := Shuffled(change(c[0], c[1]))
		require.Equal(t, n, got.N)
		moved := 0
		for i := range n {
			if rows.Distance(want.Row(i), []float64{(got.X[3*i] - c[1]) / c[0], (got.X[3*i+1] - c[1]) / c[0], (got.X[3*i+2] - c[1]) / c[0]}) > 1e-6*(1+math.Abs(want.X[3*i+2])) {
				moved++
			}
			require.InDelta(t, 1, got.Weight(i), 0)
		}
		require.Zero(t, moved, c)
	}
	// A sample is no part of the space.
	positive := 0
	for i := range n / 10 {
		if want.X[3*i] > 0 {
			positive++
		}
	}
	require.InDelta(t, n/20, positive, 35)

	all := rows.Data{N: 2, D: 1, X: []float64{1, 2}, Weights: []float64{0, 0}}
	require.Equal(t, all, Shuffled(all))
}
