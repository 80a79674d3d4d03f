package lookup

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/dense"
)

// Kernels have the bits of plain Go.
func TestNearKernels(t *testing.T) {
	if !dense.HasAVX2() {
		t.Skip("there is no kernel for this processor")
	}
	rng := rand.New(rand.NewPCG(3, 7))
	for groups := 1; groups < 20; groups++ {
		n := groups * groupRows
		v := &vicinity{n: n, stride: n, rows: make([]float64, Space*n), squares: make([]float64, n), within: make([]byte, n)}
		for i := range v.rows {
			v.rows[i] = rng.Float64()
		}
		v.rows[n-1] = math.Inf(1)
		x := [Space]float64{.4, .5, .6}
		limit := squareInSpace(x, [Space]float64{v.rows[3], v.rows[n+3], v.rows[2*n+3]}) // of a row
		v.findPlain(x, limit, groups)
		require.NotZero(t, v.within[0]&8)
		require.Zero(t, v.within[groups-1]&128)
		squares, within := make([]float64, n), make([]byte, groups)
		table := [Space + 1]float64{x[0], x[1], x[2], limit}
		nearRows(&table[0], &v.rows[0], v.stride, &squares[0], &within[0], groups)
		require.Equal(t, v.squares[:n], squares)
		require.Equal(t, v.within[:groups], within)
	}
}

// A scan finds all rows up to a distance, also where lookups walk to the edge of a copy and beyond.
func TestVicinityIsWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 7))
	const n = 30000
	x, all := make([]float64, Space*n), make([]int, n)
	for i := range n { // of a plane, whose boxes are small
		x[Space*i], x[Space*i+1] = rng.Float64(), rng.Float64()
	}
	for i := range all {
		all[i] = i
	}
	tree := newTree(x, Space, all)
	s := Search{}
	s.off = make([]float64, Space)
	var y [Space]float64
	scanned := 0
	for look := range 1000 {
		if look%50 == 0 {
			copy(y[:], x[Space*rng.IntN(n):])
		}
		for j := range y {
			y[j] += .01 * rng.NormFloat64()
		}
		far := .05 + .05*rng.Float64()
		s.list, s.limit = s.list[:0], far*far
		if !s.vicinity(tree).scan(tree, &s, y) {
			continue
		}
		scanned++
		want := 0
		for i := range n {
			if squareInSpace(y, [Space]float64(x[Space*i:])) <= s.limit {
				want++
			}
		}
		require.Len(t, s.list, want, look)
	}
	require.Greater(t, scanned, 800)
}

// Lookups that follow each other, near each other and in turns in two sets of rows, find what each alone does.
func TestVicinity(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 7))
	draw := func(n int) []float64 {
		x := make([]float64, Space*n)
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
	trees := []Index{newTree(x, Space, all), newTree(other, Space, all)}
	scans := []Index{NewScan(x, Space, all), NewScan(other, Space, all)}
	var s, plain Search
	y, copies := make([]float64, Space), 0
	for look := range 2000 {
		if look%50 == 0 {
			copy(y, x[Space*rng.IntN(n):])
		}
		for j := range y { // walks to the edge of a copy and beyond
			y[j] += .05 * rng.NormFloat64()
		}
		which, k := look/4%2, 1+rng.IntN(80)
		v := s.vicinity(trees[which].(*tree))
		before := v.centre
		require.Equal(t, plain.Find(scans[which], y, k), s.Find(trees[which], y, k))
		if v.centre != before {
			copies++
		}
	}
	require.Greater(t, copies, 10)
	require.Less(t, copies, 1000)
}
