package dense

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Values are those of plain loops over the entries, and have the bits of the reference where the processor does
// four at once.
func TestPolynomials(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, terms := range []int{1, 3, 5, 6, 10} {
		for n := 0; n <= 64; n += PolynomialBlock {
			columns, factors := make([]float64, n*terms), make([]float64, terms)
			for a := range factors {
				factors[a] = rng.NormFloat64()
				for k := range n {
					columns[a*n+k] = rng.NormFloat64()
				}
			}
			values, want := make([]float64, n), make([]float64, n)
			CombineColumns(values, columns, factors)
			for k := range n {
				for a := range factors {
					want[k] += factors[a] * columns[a*n+k]
				}
			}
			assert.InDeltaSlice(t, append(want, 0), append(values, 0), 1e-13)
			if n > 0 {
				combine(want, columns, factors)
				assert.Equal(t, want, values)
			}
		}
	}
	assert.Panics(t, func() { CombineColumns(make([]float64, 7), make([]float64, 7), []float64{1}) })
}

// Products of columns have the bits of plain Go.
func TestAddColumnProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for n := 0; n <= 40; n += PolynomialBlock {
		for count := range 5 {
			xStep, yStep := n+rng.IntN(4), rng.IntN(n+1)
			draw := func(n int) []float64 {
				x := make([]float64, n)
				for i := range x {
					x[i] = rng.NormFloat64()
				}
				return x
			}
			x, y, got := draw(n+4*xStep), draw(n+4*yStep), draw(n)
			want := append([]float64{}, got...)
			addColumnProducts(want, x, xStep, y, yStep, count)
			AddColumnProducts(got, x, xStep, y, yStep, count)
			assert.Equal(t, want, got, "n = %d, %d columns", n, count)
		}
	}
	assert.Panics(t, func() { AddColumnProducts(make([]float64, 7), make([]float64, 7), 7, make([]float64, 7), 7, 1) })
}
