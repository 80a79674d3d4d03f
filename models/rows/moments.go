package rows

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
)

// secondMoments is the matrix of second moments of rows about a mean. It is not stored:
// products with l vectors take 4nDl operations and one read of the rows.
type secondMoments struct {
	x       Data
	mean    []float64
	threads int
	squares float64   // sum of those of all entries
	sums    []float64 // of each part of the rows, l x D
}

const (
	// momentParts is the number of parts of the rows that are summed separately.
	momentParts = 16
	// stripEntries is the number of entries of a strip of rows, which stays in the cache
	// between two products.
	stripEntries = 1 << 16
)

func newSecondMoments(x Data, mean []float64, threads int) *secondMoments {
	return &secondMoments{x: x, mean: mean, threads: threads}
}

// stripRows returns the number of rows of a strip, a multiple of the rows that kernels process at a time.
func stripRows(D int) int { return max(stripEntries/D/4, 2) * 4 }

// Order implements [Symmetric].
func (m *secondMoments) Order() int { return m.x.D }

// Trace implements [Symmetric].
func (m *secondMoments) Trace() float64 { return m.squares }

// Multiply implements [Symmetric]: it writes sum_i (x_i - mean) (x_i - mean)'v. The parts
// that are summed separately do not depend on the number of threads.
func (m *secondMoments) Multiply(ctx context.Context, dst, v []float64) error {
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
			dense.FrameProducts(along, rows, squares, m.x.X[from*D:], m.mean, v, rows, l, D)
			for i := range rows {
				w := m.x.Weight(from + i)
				totals[part] += w * squares[i]
				for k := i; k < l*rows; k += rows {
					along[k] *= w
				}
			}
			dense.AddCentredRowProduct(sums, along, m.x.X[from*D:], m.mean, l, rows, D)
		}
	})
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("scqm: principal components: %w", err)
	}
	clear(dst)
	m.squares = floats.Sum(totals[:])
	for part := range totals {
		floats.Add(dst, m.sums[part*len(dst):(part+1)*len(dst)])
	}
	return nil
}
