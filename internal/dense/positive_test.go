package dense

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// Products and solutions are those of the entries, for sizes on both sides of the blocks.
func TestPositive(t *testing.T) {
	for _, n := range []int{1, 2, 7, 48, 53, 130} {
		rng := rand.New(rand.NewPCG(3, uint64(n)))
		e := make([]float64, 2*n*n)
		for i := range e {
			e[i] = rng.NormFloat64()
		}
		m := make([]float64, n*n)
		Gram(m, e, 2*n, n, 1)
		before := append([]float64(nil), m...)
		p, ok := NewPositive(m, n)
		require.True(t, ok)
		assert.Equal(t, before, m)
		const count = 3
		x, y := make([]float64, count*n), make([]float64, count*n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		p.MultiplyRows(y, x)
		for k := range count {
			for i := range n {
				assert.InDelta(t, floats.Dot(m[i*n:(i+1)*n], x[k*n:(k+1)*n]), y[k*n+i], 1e-9*float64(n))
			}
		}
		p.SolveRows(y)
		assert.True(t, floats.EqualApprox(x, y, 1e-7), "n = %d", n)
		m[n*n-1] = -1
		_, ok = NewPositive(m, n)
		assert.False(t, ok)
	}
}
