package dense

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The kernels have the bits of plain Go, which is the product of the matrix with a vector that is zero
// before the first entry.
func TestSymmetricProduct(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const n, first = 40, 16
	a, v, y, want := numbers(rng, n*n, nil), numbers(rng, n, nil), make([]float64, n), make([]float64, n)
	for i := range n {
		for j := range i {
			a[i*n+j] = a[j*n+i]
		}
	}
	clear(v[:first])
	for i := first; i < n; i++ {
		want[i] = Dot(a[i*n:(i+1)*n], v)
	}
	addSymmetricProduct(y, a, v, n, first)
	assert.InDeltaSlice(t, want, y, 1e-12)
}
