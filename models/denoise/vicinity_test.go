package denoise

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/dense"
)

// Kernels have the bits of plain Go.
func TestNearKernels(t *testing.T) {
	avx2, avx512 := dense.Wide()
	rng := rand.New(rand.NewPCG(3, 7))
	for groups := 1; groups < 20; groups++ {
		n := groups * lanes
		v := &vicinity{n: n, stride: n, rows: make([]float64, space*n), squares: make([]float64, n), within: make([]byte, n)}
		for i := range v.rows {
			v.rows[i] = rng.Float64()
		}
		v.rows[n-1] = math.Inf(1)
		x := [space]float64{.4, .5, .6}
		limit := squareInSpace(x, [space]float64{v.rows[3], v.rows[n+3], v.rows[2*n+3]}) // of a row
		v.findPlain(x, limit, groups)
		require.NotZero(t, v.within[0]&8)
		require.Zero(t, v.within[groups-1]&128)
		for wider, ok := range []bool{avx2, avx512} {
			if !ok {
				continue
			}
			squares, within := make([]float64, n), make([]byte, groups)
			table := [space + 1]float64{x[0], x[1], x[2], limit}
			nearRows[wider](&table[0], &v.rows[0], v.stride, &squares[0], &within[0], groups)
			require.Equal(t, v.squares[:n], squares)
			require.Equal(t, v.within[:groups], within)
		}
	}
}

// Lookups that follow each other, near each other and in turns in two sets of rows, find what each alone does.
func TestVicinity(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 7))
	draw := func(n int) []float64 {
		x := make([]float64, space*n)
		for i := range x {
			x[i] = math.Round(rng.NormFloat64()*64) / 64 // rows that are equally far
		}
		return x
	}
	const n = 3000
	x, other := draw(n), draw(n)
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	trees := []index{newTree(x, space, all), newTree(other, space, all)}
	scans := []index{newScan(x, space, all), newScan(other, space, all)}
	var s, plain search
	at, copies := x[:space], 0
	for look := range 2000 {
		if look%50 == 0 {
			at = x[space*rng.IntN(n):]
		}
		y := []float64{at[0] + .05*rng.NormFloat64(), at[1] + .05*rng.NormFloat64(), at[2] + .05*rng.NormFloat64()}
		which, k := look/4%2, 1+rng.IntN(80)
		v := s.vicinity(trees[which].(*tree))
		before := v.centre
		require.Equal(t, plain.find(scans[which], y, k), s.find(trees[which], y, k))
		if v.centre != before {
			copies++
		}
	}
	require.Greater(t, copies, 10)
	require.Less(t, copies, 1000)
}
