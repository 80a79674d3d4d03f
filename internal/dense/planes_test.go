package dense

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The kernel does what plain Go does, for any number of rows and any place in memory, and gives up where that does.
func TestEliminatePlanes(t *testing.T) {
	eachWidth(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(9, 1))
		vec := func(n int) []float64 {
			v := make([]float64, n+3)[rng.IntN(3):][:n]
			for i := range v {
				v[i] = rng.NormFloat64()
			}
			return v
		}
		for n := 1; n < 70; n++ {
			const count = 9
			c, g, b := vec(4*n), vec(2*n), vec(2*n*count)
			for i := range n {
				u, v, w := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
				copy(c[4*i:], []float64{1e-3 + u*u, u * v, u * v, 1e-3 + v*v + w*w})
			}
			roots, f, ff := vec(4*n), vec(2*n), vec(2*n*count)
			require.True(t, EliminatePlanes(roots, f, ff, c, g, b, 1e-8))
			for i := range n { // RR'C = I
				r, m := roots[4*i:4*i+4], c[4*i:4*i+4]
				p0, p1, p3 := r[0]*r[0]+r[1]*r[1], r[1]*r[3], r[3]*r[3]
				assert.InDelta(t, 1, p0*m[0]+p1*m[2], 1e-8)
				assert.InDelta(t, 0, p0*m[1]+p1*m[3], 1e-8)
				assert.InDelta(t, 1, p1*m[1]+p3*m[3], 1e-8)
			}
			want := [][]float64{vec(4 * n), vec(2 * n), vec(2 * n * count)}
			require.True(t, eliminatePlanes(want[0], want[1], want[2], c, g, b, 1e-8))
			assert.Equal(t, want, [][]float64{roots, f, ff}, "n = %d", n)

			at := rng.IntN(n)
			for _, bad := range [][]float64{{0, 0, 0, 0}, {-1, 0, 0, 1}, {1, 2, 2, 1}, {1, 0, 0, 1e9}, {1e9, 0, 0, 1}} {
				other := slices.Clone(c)
				copy(other[4*at:], bad)
				assert.False(t, EliminatePlanes(roots, f, ff, other, g, b, 1e-8), "n = %d, %v", n, bad)
			}
		}
	})
}

// eachWidth runs a test on plain Go and on every instruction set that the processor has.
func eachWidth(t *testing.T, test func(t *testing.T)) {
	was, more := wide, wider
	defer func() { setWidth(was, more) }()
	for name, has := range map[string][2]bool{"plain": {}, "wide": {true, false}, "wider": {true, true}} {
		if has[0] && !was || has[1] && !more {
			continue
		}
		setWidth(has[0], has[1])
		t.Run(name, test)
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
