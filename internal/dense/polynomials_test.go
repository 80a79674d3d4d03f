package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Values and signed sums are those of plain loops over the entries, and have the bits of
// the reference where the processor does four at once.
func TestPolynomials(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, terms := range []int{1, 3, 5, 6, 10} {
		for n := 0; n <= 64; n += PolynomialBlock {
			columns, factors := make([]float64, n*terms), make([]float64, terms)
			for a := range factors {
				factors[a] = rng.NormFloat64()
				for k := range n {
					if k%7 != 3 { // others vanish
						columns[a*n+k] = rng.NormFloat64()
					}
				}
			}
			values, want := make([]float64, n), make([]float64, n)
			CombineColumns(values, columns, factors)
			sums, plain, signed := make([]float64, terms), make([]float64, terms), make([]float64, terms)
			total := SignedSums(sums, columns, factors, n)
			size := 0.0
			for k := range n {
				for a := range factors {
					want[k] += factors[a] * columns[a*n+k]
				}
				size += math.Abs(want[k])
				for a := range factors {
					if want[k] != 0 {
						plain[a] += math.Copysign(columns[a*n+k], want[k]*columns[a*n+k])
					}
				}
			}
			assert.InDeltaSlice(t, append(want, 0), append(values, 0), 1e-13)
			assert.InDeltaSlice(t, plain, sums, 1e-12)
			assert.InDelta(t, size, total, 1e-12)
			if n > 0 {
				combine(want, columns, factors)
				assert.Equal(t, want, values)
			}
			assert.Equal(t, signedSums(signed, columns, factors, n), total)
			assert.Equal(t, signed, sums, "%d terms, n = %d", terms, n)
		}
	}
	assert.Panics(t, func() { CombineColumns(make([]float64, 7), make([]float64, 7), []float64{1}) })
	assert.Panics(t, func() { SignedSums(make([]float64, 3), make([]float64, 20), []float64{1, 2, 3}, 8) })
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

func BenchmarkSignedSums(b *testing.B) {
	for _, terms := range []int{3, 6, 10} {
		for _, n := range []int{8, 56, 200, 784} {
			columns, factors, sums := make([]float64, n*terms), make([]float64, terms), make([]float64, terms)
			for k := range columns {
				columns[k] = math.Sin(float64(k))
			}
			factors[0] = 1
			b.Run(fmt.Sprintf("terms=%d/n=%d", terms, n), func(b *testing.B) {
				for b.Loop() {
					SignedSums(sums, columns, factors, n)
				}
			})
		}
	}
}
