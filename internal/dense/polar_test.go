package dense

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Of all matrices with orthonormal columns a nearest one maximises tr(Q'A), which
// is then the sum of the singular values of A, whatever the rank of A.
func TestNearestOrthonormal(t *testing.T) {
	for name, spoil := range map[string]func(a []float64, n int){
		"full rank":          func([]float64, int) {},
		"zero":               func(a []float64, _ int) { clear(a) },
		"zero column":        func(a []float64, n int) { clear(a[n : 2*n]) },
		"equal columns":      func(a []float64, n int) { copy(a[n:2*n], a[:n]) },
		"all but equal":      func(a []float64, n int) { floats.ScaleTo(a[n:2*n], 1+0x1p-50, a[:n]) },
		"rank one":           func(a []float64, n int) { copy(a[n:2*n], a[:n]); floats.ScaleTo(a[2*n:3*n], -3, a[:n]) },
		"subnormal column":   func(a []float64, n int) { floats.Scale(0x1p-1060, a[:n]) },
		"subnormal":          func(a []float64, _ int) { floats.Scale(0x1p-1060, a) },
		"badly conditioned":  func(a []float64, n int) { floats.AddScaledTo(a[n:2*n], a[:n], 1e-12, a[2*n:3*n]) },
		"columns far apart":  func(a []float64, n int) { floats.Scale(1e-200, a[:n]); floats.Scale(1e100, a[n:2*n]) },
		"one in a direction": func(a []float64, n int) { clear(a); a[0], a[n], a[2*n] = 1, 2, 3 },
	} {
		for _, n := range []int{3, 7} {
			const m = 3
			a := gaussians(5, m*n)
			spoil(a, n)
			q := make([]float64, m*n)
			require.True(t, NewNearestOrthonormal(m, n).Factor(q, append([]float64(nil), a...)), name)
			for i := range m {
				for j := range m {
					want := map[bool]float64{true: 1}[i == j]
					assert.InDelta(t, want, floats.Dot(q[i*n:(i+1)*n], q[j*n:(j+1)*n]), 1e-14, "%s, %d rows", name, n)
				}
			}
			var svd mat.SVD
			require.True(t, svd.Factorize(mat.NewDense(m, n, a), mat.SVDNone))
			sum := floats.Sum(svd.Values(nil))
			assert.InDelta(t, sum, floats.Dot(q, a), 1e-14*sum+0x1p-1070, "%s, %d rows", name, n)
		}
	}
}

// All three ways to the polar factor of columns that are all but orthonormal agree.
func TestPolarFactorsAgree(t *testing.T) {
	for _, shape := range [][2]int{{1, 1}, {3, 3}, {3, 7}, {5, 50}} {
		m, n := shape[0], shape[1]
		a := gaussians(8, m*n)
		OrthonormalizeRows(a, n)
		floats.AddScaled(a, 0.1, gaussians(9, m*n))
		want, svd := make([]float64, m*n), make([]float64, m*n)
		p := NewPolar(m, n)
		_, ok := p.Factor(want, a, n)
		require.True(t, ok)
		require.True(t, NewNearestOrthonormal(m, n).Factor(svd, append([]float64(nil), a...)))
		require.True(t, p.Orthonormalize(a, n))
		assert.InDeltaSlice(t, want, svd, 1e-13)
		assert.InDeltaSlice(t, want, a, 1e-13)
		assert.Zero(t, testing.AllocsPerRun(3, func() { p.Orthonormalize(a, n) }))
	}
	bad := []float64{math.NaN(), 1}
	assert.False(t, NewPolar(1, 2).Orthonormalize(bad, 2))
	assert.Equal(t, 1.0, bad[1])
}
