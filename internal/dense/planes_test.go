package dense

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The root of C has RR'C = I, and there is none where a pivot is not large enough.
func TestPlaneRoot(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	r := make([]float64, 4)
	for range 500 {
		u, v, w := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		m := []float64{1e-3 + u*u, u * v, u * v, 1e-3 + v*v + w*w}
		require.True(t, PlaneRoot(r, m, 1e-8))
		p0, p1, p3 := r[0]*r[0]+r[1]*r[1], r[1]*r[3], r[3]*r[3]
		assert.InDelta(t, 1, p0*m[0]+p1*m[2], 1e-8)
		assert.InDelta(t, 0, p0*m[1]+p1*m[3], 1e-8)
		assert.InDelta(t, 1, p1*m[1]+p3*m[3], 1e-8)
	}
	for _, bad := range [][]float64{{0, 0, 0, 0}, {-1, 0, 0, 1}, {1, 2, 2, 1}, {1, 0, 0, 1e9}, {1e9, 0, 0, 1}} {
		assert.False(t, PlaneRoot(r, bad, 1e-8), "%v", bad)
	}
}

// A step of two coordinates is that of the general way.
func TestNewtonStepInThePlane(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 2))
	taken := 0
	for range 2000 {
		u, v, w := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		h, b := []float64{u, v, v, w}, []float64{rng.NormFloat64(), rng.NormFloat64()}
		got, factor := slices.Clone(b), slices.Clone(h)
		definite := Cholesky(factor, 2, 1e-10)
		assert.Equal(t, definite, planeStep(got, h, 1e-10))
		if definite {
			taken++
			SolveCholesky(b, factor, 2)
		}
		assert.Equal(t, b, got)
	}
	assert.Greater(t, taken, 200)
}
