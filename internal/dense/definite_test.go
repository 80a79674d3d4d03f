package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/mat"
)

// A matrix is definite where its spectrum is above 0, whatever rows the negative eigenvector is
// along, and stays as it is.
func TestDefinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for _, n := range []int{1, 2, 5, 47, 48, 49, 96, 97, 130} {
		a, m := mat.NewDense(n, n, nil), mat.NewSymDense(n, nil)
		for i := range a.RawMatrix().Data {
			a.RawMatrix().Data[i] = rng.NormFloat64()
		}
		m.SymOuterK(1, a)
		entries := mat.DenseCopyOf(m).RawMatrix().Data
		before := append([]float64{}, entries...)
		assert.True(t, Definite(entries, n), n)
		assert.Equal(t, before, entries)
		var eigen mat.EigenSym
		assert.True(t, eigen.Factorize(m, false))
		least := eigen.Values(nil)[0]
		for i := range n { // the least eigenvalue to both sides of 0
			entries[i*n+i] -= least * (1 - 1e-6)
		}
		assert.True(t, Definite(entries, n), n)
		for i := range n {
			entries[i*n+i] -= 2e-6 * least
		}
		assert.False(t, Definite(entries, n), n)
		for _, i := range []int{0, n / 2, n - 1} {
			copy(entries, before)
			entries[i*n+i] = -entries[i*n+i]
			assert.False(t, Definite(entries, n), fmt.Sprint(n, i))
			entries[i*n+i] = math.NaN()
			assert.False(t, Definite(entries, n), fmt.Sprint(n, i))
		}
	}
	assert.True(t, Definite([]float64{2, 1, 0, 1, 2, 1, 0, 1, 2}, 3))
	assert.False(t, Definite([]float64{1, 1, 0, 1, 1, 1, 0, 1, 1}, 3))
}
