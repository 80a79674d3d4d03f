package dense

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/floats"
)

// Products with the eigenvectors restore the matrix, whatever its rank and grading, and
// the eigenvalues are those of LAPACK.
func TestImplicitEigen(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 8, 40} {
		for kind := range 4 {
			a := make([]float64, n*n)
			for range []int{n, n / 2, n, 0}[kind] { // full rank, deficient, graded, zero
				x := make([]float64, n)
				for i := range x {
					x[i] = rng.NormFloat64()
					if kind == 2 {
						x[i] *= math.Pow(10, -12*float64(i)/float64(n))
					}
				}
				AddOuterProduct(a, x, rng.NormFloat64())
			}
			for i := range n {
				for j := range i {
					a[i*n+j] = a[j*n+i]
				}
			}
			e, known := NewImplicitEigen(n), NewSymmetricEigen(n)
			copy(e.A, a)
			copy(known.A, a)
			e.FactorizeOrIdentity()
			known.FactorizeOrIdentity()
			size, x := floats.Norm(known.Values, 2), make([]float64, n)
			for j := range n {
				clear(x)
				x[j] = 1
				e.TimesTransposed(x)
				floats.Mul(x, e.Values)
				e.Times(x)
				assert.InDelta(t, 0, floats.Distance(x, a[j*n:(j+1)*n], 2), 1e-13*size, "n = %d, kind %d", n, kind)
			}
			slices.Sort(e.Values)
			assert.InDelta(t, 0, floats.Distance(e.Values, known.Values, 2), 1e-13*size, "n = %d, kind %d", n, kind)
		}
	}
}

// A matrix that is not finite counts as the unit matrix.
func TestImplicitEigenNotFinite(t *testing.T) {
	e := NewImplicitEigen(3)
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		copy(e.A, []float64{1, 2, 3, 2, bad, 1, 3, 1, 5})
		e.FactorizeOrIdentity()
		assert.Equal(t, []float64{1, 1, 1}, e.Values)
		x := []float64{1, 2, 3}
		e.Times(x)
		e.TimesTransposed(x)
		assert.Equal(t, []float64{1, 2, 3}, x)
	}
}
