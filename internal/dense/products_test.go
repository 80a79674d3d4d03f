package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// onEach runs a test with every set of instructions that the processor has.
func onEach(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	was, more := wide, wider
	defer func() { setWidth(was, more) }()
	for _, has := range [][2]bool{{true, true}, {true, false}} {
		if has[0] && !was || has[1] && !more {
			continue
		}
		setWidth(has[0], has[1])
		t.Run(fmt.Sprintf("wide %v, wider %v", has[0], has[1]), test)
	}
}

// numbers draws some, which begin anywhere in memory; a few of them are special.
func numbers(rng *rand.Rand, n int, special []float64) []float64 {
	at := rng.IntN(3)
	x := make([]float64, n+at+2)
	for i := range x {
		x[i] = rng.NormFloat64()
		if len(special) > 0 && rng.IntN(200) == 0 {
			x[i] = special[rng.IntN(len(special))]
		}
	}
	return x[at : at+n : at+n]
}

// sameBits compares numbers, where one NaN is as good as another.
func sameBits(t *testing.T, want, got []float64, message string, arguments ...any) {
	t.Helper()
	require.Len(t, got, len(want))
	for i, v := range want {
		if math.IsNaN(v) && math.IsNaN(got[i]) {
			continue
		}
		if math.Float64bits(v) != math.Float64bits(got[i]) {
			require.Failf(t, "bits", "%s: number %d is %v, plain %v", fmt.Sprintf(message, arguments...), i, got[i], v)
		}
	}
}

var specials = [][]float64{nil, {math.Inf(1), math.Inf(-1), math.NaN(), 0, math.Copysign(0, -1), 1e300, 5e-324}}

func TestFrameProducts(t *testing.T) {
	onEach(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 1))
		for trial := range 4000 {
			n, m, length := rng.IntN(11), 1+rng.IntN(15), rng.IntN(40)
			stride, special := n+rng.IntN(3), specials[trial%2]
			x, axes := numbers(rng, n*length, special), numbers(rng, m*length, special)
			var c []float64
			if trial%3 > 0 {
				c = numbers(rng, length, special)
			}
			y := numbers(rng, (m-1)*stride+n+3, nil)
			want := append([]float64{}, y...)
			var squares, wantSquares []float64
			if trial%5 > 0 {
				squares = numbers(rng, n+2, nil)
				wantSquares = append([]float64{}, squares...)
			}
			FrameProducts(y, stride, squares, x, c, axes, n, m, length)
			frameProducts(want, stride, wantSquares, x, c, axes, n, m, length)
			sameBits(t, want, y, "%d rows, %d axes of %d", n, m, length)
			if squares != nil && c != nil {
				clear(squares[:n])
				SquaredDistances(squares, x, c, n, length)
			}
			sameBits(t, wantSquares, squares, "squares of %d rows of %d", n, length)
		}
	})
}

func TestAddProducts(t *testing.T) {
	onEach(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(2, 2))
		for trial := range 4000 {
			n, k, cols := rng.IntN(12), rng.IntN(15), rng.IntN(75)
			if trial%100 == 0 {
				n += 2 * tileLength
			}
			special := specials[trial%2]
			w, x, sums := numbers(rng, n*k, special), numbers(rng, n*cols, special), numbers(rng, k*cols+2, nil)
			var c []float64
			if trial%3 > 0 {
				c = numbers(rng, cols, special)
			}
			want := append([]float64{}, sums...)
			AddCentredProduct(sums, w, x, c, n, k, cols)
			(&weighted{w, k, 1, x, cols, c, n}).plain(want, cols, k, cols)
			sameBits(t, want, sums, "%d rows of %d, %d sums", n, cols, k)
			if from := rng.IntN(cols + 1); c == nil {
				to := from + rng.IntN(cols-from+1)
				part, all := make([]float64, k*(to-from)), make([]float64, k*cols)
				AddColumnsProduct(part, w, x, n, k, cols, from, to)
				AddProduct(all, w, x, n, k, cols)
				for i := range k {
					sameBits(t, all[i*cols+from:i*cols+to], part[i*(to-from):(i+1)*(to-from)], "columns %d to %d of %d", from, to, cols)
				}
			}

			images := numbers(rng, n*cols+2, nil)
			x = numbers(rng, k*cols, special)
			want = append(want[:0], images...)
			AddCentredRowProduct(images, w, x, c, n, k, cols)
			(&weighted{w, 1, k, x, cols, c, k}).plain(want, cols, n, cols)
			sameBits(t, want, images, "%d images of %d axes", n, k)
		}
	})
}

func TestAddSquare(t *testing.T) {
	onEach(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 3))
		for trial := range 400 {
			n, cols := rng.IntN(12), 1+rng.IntN(75)
			if trial%100 == 0 {
				n += 2 * tileLength
			}
			x, c := numbers(rng, n*cols, specials[trial%2]), numbers(rng, cols*cols, nil)
			want := append([]float64{}, c...)
			(&weighted{x, cols, 1, x, cols, nil, n}).plain(want, cols, cols, cols)
			for from := 0; from < cols; from += SquareRows {
				AddSquare(c, x, n, cols, from, min(from+SquareRows, cols))
			}
			for i := range cols {
				sameBits(t, want[i*cols+i:(i+1)*cols], c[i*cols+i:(i+1)*cols], "row %d of %d, %d rows", i, cols, n)
			}
		}
	})
}

func TestAddWeightedSquare(t *testing.T) {
	onEach(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for range 200 {
			n, cols := rng.IntN(12), 1+rng.IntN(75)
			x, c, weights := numbers(rng, n*cols, nil), numbers(rng, cols*cols, nil), numbers(rng, n, nil)
			want, wx := slices.Clone(c), slices.Clone(x)
			for i, v := range weights {
				AddOuterProduct(want, x[i*cols:(i+1)*cols], v)
				Scale(wx[i*cols:(i+1)*cols], v)
			}
			AddWeightedSquare(c, wx, x, n, cols)
			for i := range cols {
				sameBits(t, want[i*cols+i:(i+1)*cols], c[i*cols+i:(i+1)*cols], "row %d of %d, %d rows", i, cols, n)
			}
		}
	})
}

func BenchmarkProducts(b *testing.B) {
	for _, shape := range [][3]int{{192, 5, 50}, {41, 5, 784}, {192, 20, 50}, {41, 38, 784}} {
		n, m, D := shape[0], shape[1], shape[2]
		x, c, axes := make([]float64, n*D), make([]float64, D), make([]float64, (m+1)*D)
		y, squares := make([]float64, n*(m+1)), make([]float64, n)
		name := fmt.Sprintf("n=%d,m=%d,D=%d", n, m, D)
		b.Run(name+"/frame", func(b *testing.B) {
			for b.Loop() {
				FrameProducts(y, n, squares, x, c, axes, n, m, D)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
		})
		b.Run(name+"/add", func(b *testing.B) {
			for b.Loop() {
				AddCentredProduct(axes, y, x, c, n, m+1, D)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
		})
		b.Run(name+"/images", func(b *testing.B) {
			for b.Loop() {
				AddRowProduct(x, y, axes, n, m, D)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
		})
	}
}
