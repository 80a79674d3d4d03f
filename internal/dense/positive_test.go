package dense

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A matrix is definite or not for sizes on both sides of the blocks, and is not changed.
func TestDefiniteInBlocks(t *testing.T) {
	for _, n := range []int{1, 2, 7, 48, 53, 130} {
		rng := rand.New(rand.NewPCG(3, uint64(n)))
		e := make([]float64, 2*n*n)
		for i := range e {
			e[i] = rng.NormFloat64()
		}
		m := make([]float64, n*n)
		Gram(m, e, 2*n, n, 1)
		before := append([]float64(nil), m...)
		assert.True(t, factors(m, n))
		assert.Equal(t, before, m)
		m[n*n-1] = -1
		assert.False(t, factors(m, n))
	}
}
