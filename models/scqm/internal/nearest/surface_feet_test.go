package nearest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Every kernel places rows where plain Go does, to the last bit, and refuses those that it does.
func TestSurfaceFeet(t *testing.T) {
	type kernel func(table, pulled *float64, stride int, whole, x, y, u *float64, groups, steps int, nearest bool)
	kernels := map[int]kernel{}
	if dense.HasAVX2() {
		kernels[4] = feetWide
	}
	rng := rand.New(rand.NewPCG(1, 1))
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, 1e200, 1e-200}
	placed, refused := 0, 0
	for trial := range 600 {
		s := 1 + rng.IntN(surfaceAxes)
		f := sheet.New(9, 2, s)
		bend := math.Pow(10, 2*rng.Float64()-1.5)
		for i := range f.Theta {
			f.Theta[i] = bend * rng.NormFloat64()
		}
		const n = 16
		stride := n + rng.IntN(3)
		draw := func(n int) []float64 {
			x := make([]float64, n)
			for i := range x {
				if x[i] = rng.NormFloat64(); trial%4 == 0 && rng.IntN(40) == 0 {
					x[i] = special[rng.IntN(len(special))]
				}
			}
			return x
		}
		pulled, whole, x, y := draw(FrameAxes*stride), draw(n), draw(n), draw(n)
		clear(pulled[(2+s)*stride:])
		for i := range n {
			whole[i] *= 9 * whole[i]
			if trial%3 > 0 { // close to where they belong
				x[i], y[i] = pulled[i]+x[i]/10, pulled[stride+i]+y[i]/10
			}
		}
		feet := NewSurfaceFeet(f, Arrival{1e-3, pureGradient})
		u, px, py := make([]float64, n), append([]float64{}, x...), append([]float64{}, y...)
		steps, nearest := 1+trial%12, trial%2 == 1
		feet.plain(u, px, py, pulled, stride, whole, n, steps, nearest)
		for lanes, k := range kernels {
			gu, gx, gy := make([]float64, n), append([]float64{}, x...), append([]float64{}, y...)
			k(&feet.table[0], &pulled[0], 8*stride, &whole[0], &gx[0], &gy[0], &gu[0], n/lanes, steps, nearest)
			for i := range n {
				for j, got := range []float64{gu[i], gx[i], gy[i]} {
					want := []float64{u[i], px[i], py[i]}[j]
					same := math.Float64bits(got) == math.Float64bits(want) || math.IsNaN(got) && math.IsNaN(want)
					require.True(t, same, "trial %d, %d lanes, row %d, number %d: %v, plain %v", trial, lanes, i, j, got, want)
				}
			}
		}
		for i := range n {
			if u[i] == Refused {
				refused++
			} else {
				placed++
			}
		}
	}
	require.Greater(t, placed, 2000)
	require.Greater(t, refused, 500)
}
