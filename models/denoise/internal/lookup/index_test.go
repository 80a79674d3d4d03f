package lookup

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/spatial/kdtree"
)

func allRows(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func normalRows(seed uint64, n, D int) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, n*D)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// TestIndexAgainstSorting compares with a sort of all distances, on data with
// many ties.
func TestIndexAgainstSorting(t *testing.T) {
	for _, D := range []int{1, 2, 3, 9, 20} {
		const n = 700
		x := normalRows(uint64(D), n, D)
		for i := range x {
			x[i] = float64(int(2 * x[i])) // a grid
		}
		list := allRows(n)[5:] // rows of no weight are left out
		for name, in := range map[string]Index{"tree": newTree(x, D, list), "scan": NewScan(x, D, list)} {
			var s Search
			for _, k := range []int{1, 7, 90, n} {
				q := x[11*D : 12*D]
				if k == 90 {
					q = normalRows(77, 1, D)
				}
				var want []Near
				for _, i := range list {
					var sum float64
					for j := range D {
						d := q[j] - x[i*D+j]
						sum += float64(d * d)
					}
					want = append(want, Near{sum, i})
				}
				slices.SortFunc(want, compareNear)
				require.Equal(t, want[:min(k, len(want))], s.Find(in, q, k), "%s, D = %d, k = %d", name, D, k)
			}
		}
	}
}

func TestIndexOfEqualRows(t *testing.T) {
	x := make([]float64, 300)
	var s Search
	got := s.Find(newTree(x, 3, allRows(100)), x[:3], 4)
	require.Equal(t, []Near{{0, 0}, {0, 1}, {0, 2}, {0, 3}}, got)
}

func TestSearchAllocatesNothing(t *testing.T) {
	x := normalRows(1, 1000, 3)
	in := newTree(x, 3, allRows(1000))
	var s Search
	s.Find(in, x[:3], 30)
	i := 0
	require.Zero(t, testing.AllocsPerRun(100, func() { i++; s.Find(in, x[3*i:3*i+3], 30) }))
}

// surfaceRows are near a surface of dimension 2, as data worth denoising are.
func surfaceRows(n, D int) []float64 {
	x, noise := make([]float64, n*D), normalRows(3, n, D)
	rng := rand.New(rand.NewPCG(9, 9))
	for i := range n {
		a, b := rng.Float64(), rng.Float64()
		for j := range D {
			x[i*D+j] = a*float64(j%3) + b*float64(j%2) + a*b*float64(j%5) + 0.03*noise[i*D+j]
		}
	}
	return x
}

// BenchmarkIndex justifies the choice of NewIndex: the time of one search for 30
// rows by the tree, by the scan, and by the tree of gonum.
func BenchmarkIndex(b *testing.B) {
	for _, size := range []struct{ n, D int }{{300, 3}, {10000, 3}, {100000, 3}, {10000, 10}, {10000, 20}, {10000, 32}, {10000, 50}, {2000, 784}} {
		x := surfaceRows(size.n, size.D)
		for name, in := range map[string]Index{"tree": newTree(x, size.D, allRows(size.n)), "scan": NewScan(x, size.D, allRows(size.n))} {
			b.Run(fmt.Sprintf("n=%d/D=%d/%s", size.n, size.D, name), func(b *testing.B) {
				var s Search
				i := 0
				for b.Loop() {
					s.Find(in, x[i*size.D:(i+1)*size.D], 30)
					i = (i + 17) % size.n
				}
			})
		}
		b.Run(fmt.Sprintf("n=%d/D=%d/gonum", size.n, size.D), func(b *testing.B) {
			points := make(kdtree.Points, size.n)
			for i := range points {
				points[i] = x[i*size.D : (i+1)*size.D]
			}
			t := kdtree.New(points, false)
			i := 0
			for b.Loop() {
				t.NearestSet(kdtree.NewNKeeper(30), kdtree.Point(x[i*size.D:(i+1)*size.D]))
				i = (i + 17) % size.n
			}
		})
	}
}
