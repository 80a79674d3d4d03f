package dense

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestJacobiEigenOfThree: three rows come out as they do of any number, with equal and vanishing eigenvalues too, and A = V'LV.
func TestJacobiEigenOfThree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 17))
	for k := range 200 {
		b := make([]float64, 9)
		for i := range b {
			b[i] = rng.NormFloat64()
		}
		scale := []float64{1, 1, 1}
		switch k % 4 {
		case 1:
			scale[2] = 1e-9
		case 2:
			scale[1], scale[2] = 0, 0
		case 3:
			clear(b)
			b[0], b[4], b[8] = 1, 1, 1
		}
		a, first := make([]float64, 9), make([]float64, 9)
		for i := range 3 {
			for j := range 3 {
				for l := range 3 {
					a[3*i+j] += scale[l] * b[3*l+i] * b[3*l+j]
				}
			}
		}
		copy(first, a)
		other := append([]float64{}, a...)
		v, w := make([]float64, 9), make([]float64, 9)
		JacobiEigen(a, v, 3)
		jacobiEigen(other, w, 3)
		require.InDeltaSlice(t, other, a, 1e-14*(1+math.Abs(a[0])))
		require.InDeltaSlice(t, w, v, 1e-12)
		for i := range 3 {
			for j := range 3 {
				got := 0.0
				for l := range 3 {
					got += a[4*l] * v[3*l+i] * v[3*l+j]
				}
				require.InDelta(t, first[3*i+j], got, 1e-13)
			}
		}
	}
}
