package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// symmetric returns a symmetric matrix with rows in units of their own, some of them
// zero or equal.
func symmetric(rng *rand.Rand, n int) []float64 {
	m, unit := make([]float64, n*n), make([]float64, n)
	for i := range unit {
		unit[i] = math.Pow(10, 3*rng.NormFloat64())
		if rng.IntN(9) == 0 {
			unit[i] = 0
		}
	}
	for i := range n {
		for k := range i + 1 {
			m[i*n+k] = rng.NormFloat64() * unit[i] * unit[k]
			m[k*n+i] = m[i*n+k]
		}
	}
	return m
}

func TestSpectral(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for n := 1; n < 40; n++ {
		for range 5 {
			m := symmetric(rng, n)
			s, want := NewSpectral(n), NewSymmetricEigen(n)
			copy(want.A, m)
			require.True(t, want.Factorize())
			require.True(t, s.Factorize(m))
			values := slices.Clone(s.Values)
			slices.Sort(values)
			var most float64
			for _, v := range values {
				most = max(most, math.Abs(v))
			}
			assert.InDeltaSlice(t, want.Values, values, 1e-13*float64(n+1)*most)
			b := make([]float64, n)
			for i := range b {
				b[i] = rng.NormFloat64()
			}
			x := slices.Clone(b)
			s.ToEigen(x)
			for i, v := range s.Values {
				x[i] *= v
			}
			s.FromEigen(x)
			for i := range n {
				assert.InDelta(t, Dot(m[i*n:(i+1)*n], b), x[i], 1e-13*float64(n+1)*most, "the product with the matrix")
			}
		}
	}
}

func TestSpectralOfExtremes(t *testing.T) {
	for _, by := range []float64{1e-300, 1e-160, 1e160, 1e300} {
		m := []float64{2 * by, by, 0, by, 2 * by, by, 0, by, 2 * by}
		s := NewSpectral(3)
		require.True(t, s.Factorize(m))
		values := slices.Clone(s.Values)
		slices.Sort(values)
		for i, v := range []float64{2 - math.Sqrt2, 2, 2 + math.Sqrt2} {
			assert.InEpsilon(t, v, values[i]/by, 1e-14)
		}
	}
	s := NewSpectral(2)
	assert.False(t, s.Factorize([]float64{1, 0, math.NaN(), 1}))
	assert.False(t, s.Factorize([]float64{1, 0, 0, math.Inf(1)}))
	assert.True(t, s.Factorize([]float64{1, math.NaN(), 0, 1}), "the upper triangle is not read")
	assert.Equal(t, []float64{1, 1}, s.Values)
}

func BenchmarkSpectral(b *testing.B) {
	for _, n := range []int{16, 69, 105, 200} {
		m := symmetric(rand.New(rand.NewPCG(3, 2)), n)
		for i := range m {
			m[i] = math.Copysign(math.Pow(math.Abs(m[i]), 0.1), m[i])
		}
		x := make([]float64, n)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			s := NewSpectral(n)
			for b.Loop() {
				s.Factorize(m)
				s.ToEigen(x)
				s.FromEigen(x)
			}
		})
		b.Run(fmt.Sprintf("n=%d/eigenvectors", n), func(b *testing.B) {
			s := NewSymmetricEigen(n)
			for b.Loop() {
				copy(s.A, m)
				s.Factorize()
			}
		})
	}
}
