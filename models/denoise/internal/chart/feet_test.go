package chart

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/dense"
)

// drawCharts draws n charts of unit size about the origin that bend by so much, and stores them.
func drawCharts(t *testing.T, rng *rand.Rand, n int, bend float64) [][]float64 {
	var list [][]float64
	for range n {
		c := &Space{h: .5 + rng.Float64()}
		frame := make([]float64, 6)
		for j := range frame {
			frame[j] = rng.NormFloat64()
		}
		require.True(t, dense.OrthonormalizeRows(frame, 3))
		c.u, c.v = [3]float64(frame), [3]float64(frame[3:])
		for j := range c.o {
			c.o[j] = .1 * rng.NormFloat64()
		}
		for j := range c.b {
			c.b[j] = bend * rng.NormFloat64()
		}
		to := make([]float64, c.Width())
		c.Store(to)
		list = append(list, to)
	}
	return list
}

// TestFeet wants feet to be those that charts find one by one, where they say that they are, which is nearly everywhere that is not far away.
func TestFeet(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct{ bend, far, least, most float64 }{{.1, .1, .99, 1}, {.3, .3, .6, 1}, {.1, 3, 0, .3}, {3, 1, 0, .6}} {
		var f Feet
		good, all := 0, 0
		for n := range 60 {
			list := drawCharts(t, rng, n, c.bend)
			f.Begin(n)
			for i, stored := range list {
				f.Take(i, stored)
			}
			x := []float64{c.far * rng.NormFloat64(), c.far * rng.NormFloat64(), c.far * rng.NormFloat64()}
			f.Find(x)
			for i, stored := range list {
				all++
				foot, ok := f.At(i)
				if !ok {
					continue
				}
				good++
				var one Space
				want := make([]float64, 3)
				require.True(t, one.Load(stored))
				require.True(t, one.Foot(want, x))
				require.InDeltaSlice(t, want, foot[:], 1e-7)
			}
		}
		part := float64(good) / float64(all)
		require.GreaterOrEqual(t, part, c.least, "%v", c)
		require.LessOrEqual(t, part, c.most, "%v", c)
	}
}

// TestFeetKernels wants the bits of plain Go, of feet that are found and of those that are not.
func TestFeetKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	if !dense.HasAVX2() {
		t.Skip("there is no kernel for this processor")
	}
	for n := range 40 {
		list := drawCharts(t, rng, n, []float64{.1, 3}[n%2])
		if n > 5 {
			list[5][12] = math.NaN()
			list[4][9] = 0
		}
		var f Feet
		f.Begin(n)
		for i, stored := range list {
			f.Take(i, stored)
		}
		f.Find([][]float64{{.1, -.2, .3}, {2, -1.5, 2}}[n/2%2]) // a far one has feet beyond the charts
		f.run(false)
		want := append([]float64{}, f.groups...)
		f.run(true)
		for i, v := range f.groups {
			if !(math.IsNaN(v) && math.IsNaN(want[i])) {
				require.Equal(t, math.Float64bits(want[i]), math.Float64bits(v), "%d charts, number %d", n, i)
			}
		}
		if n > 5 {
			_, ok := f.At(5)
			require.False(t, ok)
			_, ok = f.At(4)
			require.False(t, ok)
		}
	}
}

// TestFeetOnCreases wants none there: they are left to [Space.Foot].
func TestFeetOnCreases(t *testing.T) {
	stored := make([]float64, (&Space{}).Width())
	k := wedge()
	k.store(stored, .7)
	for _, wide := range []bool{false, dense.HasAVX2()} {
		var f Feet
		f.Begin(1)
		f.Take(0, stored)
		f.table = [...]float64{.1, .2, .3, 1, 0, Singular, footPrecision, footReach * footReach}
		f.run(wide)
		_, ok := f.At(0)
		require.False(t, ok)
	}
}
