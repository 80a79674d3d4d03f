package rows

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
)

// secondMoments is the matrix of second moments of rows about a mean, which is not
// held: products with l vectors take 4nDl operations and one read of the rows.
type secondMoments struct {
	x       Data
	mean    []float64
	scale   float64 // a power of two that keeps squares within the range of the numbers
	threads int
	squares float64   // sum of those of all entries
	centred []float64 // a strip of rows
	along   []float64 // their products with the vectors, l x strip
}

// stripEntries is the number of entries of a strip of rows, which stays in the cache
// between two products.
const stripEntries = 1 << 17

// newSecondMoments takes the mean of the rows, and the largest distance from it.
func newSecondMoments(x Data, mean []float64, threads int, size float64) *secondMoments {
	_, exponent := math.Frexp(size)
	return &secondMoments{
		x: x, mean: mean, threads: threads, scale: math.Ldexp(1, min(-exponent, maxExponent)),
		centred: make([]float64, stripRows(x.N, x.D)*x.D),
	}
}

// maxExponent is that of the largest power of two.
const maxExponent = 1023

func stripRows(n, D int) int { return min(max(stripEntries/D/dense.TileSide, 1)*dense.TileSide, n) }

// Order implements [Symmetric].
func (m *secondMoments) Order() int { return m.x.D }

// Trace implements [Symmetric].
func (m *secondMoments) Trace() float64 { return m.squares }

// Sketch adds up the rows with random factors, which is half of a product.
func (m *secondMoments) Sketch(ctx context.Context, dst []float64, rng *rand.Rand) error {
	D, l := m.x.D, len(dst)/m.x.D
	return m.strips(ctx, dst, l, func(from, rows int) {
		m.fill(from, rows, func(int, int) {})
		for i := range m.along[:l*rows] {
			m.along[i] = rng.NormFloat64()
		}
		m.squares += floats.Dot(m.centred[:rows*D], m.centred[:rows*D])
	})
}

// Multiply implements [Symmetric].
func (m *secondMoments) Multiply(ctx context.Context, dst, v []float64) error {
	D, l := m.x.D, len(v)/m.x.D
	return m.strips(ctx, dst, l, func(from, rows int) {
		m.fill(from, rows, func(lo, hi int) {
			blas64.Gemm(blas.NoTrans, blas.Trans, 1, general(v, l, D), general(m.centred[lo*D:hi*D], hi-lo, D), 0,
				blas64.General{Rows: l, Cols: hi - lo, Stride: rows, Data: m.along[lo:]})
		})
	})
}

// strips writes the sums of all rows with l factors each to the rows of dst; read fills
// centred and along, l x rows, for a strip. What a goroutine writes no other does, so that
// their number changes nothing.
func (m *secondMoments) strips(ctx context.Context, dst []float64, l int, read func(from, rows int)) error {
	D, strip := m.x.D, len(m.centred)/m.x.D
	m.along = dense.Grow(m.along, l*strip)
	clear(dst)
	for from := 0; from < m.x.N; from += strip {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("scqm: principal components: %w", err)
		}
		rows := min(strip, m.x.N-from)
		read(from, rows)
		const wide = dense.TileLength
		par.Do(m.threads, (D+wide-1)/wide, func(_, tile int) {
			lo := tile * wide
			w := min(wide, D-lo)
			blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, general(m.along, l, rows),
				blas64.General{Rows: rows, Cols: w, Stride: D, Data: m.centred[lo:]}, 1,
				blas64.General{Rows: l, Cols: w, Stride: D, Data: dst[lo:]})
		})
	}
	return nil
}

// fill centres a strip of rows, and goes on with each tile of it.
func (m *secondMoments) fill(from, rows int, next func(lo, hi int)) {
	const side = dense.TileSide
	D := m.x.D
	par.Do(m.threads, (rows+side-1)/side, func(_, tile int) {
		lo := tile * side
		hi := min(lo+side, rows)
		for i := lo; i < hi; i++ {
			m.centre(m.centred[i*D:(i+1)*D], from+i)
		}
		next(lo, hi)
	})
}

// centre writes the deviation of row i from the mean, times the root of its weight.
func (m *secondMoments) centre(dst []float64, i int) {
	by, mean := m.scale*math.Sqrt(m.x.Weight(i)), m.mean
	for j, v := range m.x.Row(i) {
		dst[j] = (v - mean[j]) * by
	}
}
