package rows

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
)

// secondMoments is the matrix of second moments of rows about a mean, which is not
// held: products with l vectors take 4nDl operations and one read of the rows.
type secondMoments struct {
	x       Data
	mean    []float64
	threads int
	squares float64   // sum of those of all entries
	sums    []float64 // of each part of the rows, l x D
}

const (
	// momentParts is the number of parts of the rows that are summed apart.
	momentParts = 16
	// stripEntries is the number of entries of a strip of rows, which stays in the cache
	// between two products.
	stripEntries = 1 << 16
)

func newSecondMoments(x Data, mean []float64, threads int) *secondMoments {
	return &secondMoments{x: x, mean: mean, threads: threads}
}

// stripRows is a multiple of the rows that kernels take at a time.
func stripRows(D int) int { return max(stripEntries/D/4, 2) * 4 }

// Order implements [Symmetric].
func (m *secondMoments) Order() int { return m.x.D }

// Trace implements [Symmetric].
func (m *secondMoments) Trace() float64 { return m.squares }

// Sketch adds up the rows with random factors, which is half of a product.
func (m *secondMoments) Sketch(ctx context.Context, dst []float64, rng *rand.Rand) error {
	var draws [momentParts]*rand.Rand
	for part := range draws {
		draws[part] = rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))
	}
	_, err := m.strips(ctx, dst, func(part int, along, _ []float64, _, _ int) {
		for i := range along {
			along[i] = draws[part].NormFloat64()
		}
	})
	return err
}

// Multiply implements [Symmetric].
func (m *secondMoments) Multiply(ctx context.Context, dst, v []float64) (err error) {
	D := m.x.D
	m.squares, err = m.strips(ctx, dst, func(_ int, along, squares []float64, from, rows int) {
		dense.FrameProducts(along, rows, squares, m.x.X[from*D:], m.mean, v, rows, len(along)/rows, D)
		for i := range rows {
			w := m.x.Weight(from + i)
			squares[i] *= w
			for k := i; k < len(along); k += rows {
				along[k] *= w
			}
		}
	})
	return err
}

// strips writes the sums of all rows less their mean with l factors each to the rows of dst, l x
// D, and returns the sum of the squares; read writes the factors, l x rows, and the squares of a
// strip of rows. The parts do not depend on the number of threads.
func (m *secondMoments) strips(ctx context.Context, dst []float64, read func(part int, along, squares []float64, from, rows int)) (sum float64, err error) {
	D, n := m.x.D, m.x.N
	l, strip := len(dst)/D, stripRows(D)
	m.sums = dense.Grow(m.sums, momentParts*len(dst))
	var totals [momentParts]float64
	par.Do(m.threads, momentParts, func(_, part int) {
		sums := m.sums[part*len(dst) : (part+1)*len(dst)]
		clear(sums)
		along, squares := make([]float64, l*strip), make([]float64, strip)
		to := (part + 1) * n / momentParts
		for from := part * n / momentParts; from < to && ctx.Err() == nil; from += strip {
			rows := min(strip, to-from)
			read(part, along[:l*rows], squares[:rows], from, rows)
			totals[part] += floats.Sum(squares[:rows])
			dense.AddCentredRowProduct(sums, along, m.x.X[from*D:], m.mean, l, rows, D)
		}
	})
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("scqm: principal components: %w", err)
	}
	clear(dst)
	for part, total := range totals {
		floats.Add(dst, m.sums[part*len(dst):(part+1)*len(dst)])
		sum += total
	}
	return sum, nil
}
