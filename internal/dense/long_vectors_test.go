package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/floats"
)

func TestLongVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range 140 {
		x, y := make([]float64, n+2), make([]float64, n+2)
		for i := range x {
			x[i], y[i] = rng.NormFloat64(), rng.NormFloat64()
		}
		for at := range 3 { // which no alignment may matter to
			a, b := x[at:at+n-min(at, n)], y[at:at+n-min(at, n)]
			assert.InDelta(t, floats.Dot(a, b), InnerProduct(a, b), 1e-14*float64(n+1), "%d", n)
			assert.Equal(t, innerProduct(a, b), InnerProduct(a, b), "%d", n)
			want, got := append([]float64{}, y...), append([]float64{}, y...)
			addScaled(want[at:at+len(a)], 1.7, a)
			AddScaled(got[at:at+len(a)], 1.7, a)
			assert.Equal(t, want, got, "%d", n)
			if wide { // where wider ones are taken, too
				got = append(got[:0], y...)
				addScaledWide(got[at:at+len(a)], 1.7, a)
				assert.Equal(t, want, got, "%d", n)
			}
		}
	}
	assert.Panics(t, func() { InnerProduct(make([]float64, 3), make([]float64, 2)) })
	assert.Panics(t, func() { AddScaled(make([]float64, 2), 1, make([]float64, 3)) })
	assert.True(t, math.IsNaN(InnerProduct([]float64{1, math.NaN()}, []float64{0, 0})))
}

func TestFarthest(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	assert.Zero(t, Farthest([]float64{nan, 1, inf, nan, nan}, []float64{1, nan, inf, 0, 0}))
	assert.Equal(t, 3.0, Farthest([]float64{nan, 1, inf, -2, nan}, []float64{1, nan, inf, 1, 0}))
	assert.Equal(t, inf, Farthest([]float64{nan, -inf, 5}, make([]float64, 3)))
	assert.Panics(t, func() { Farthest(make([]float64, 3), make([]float64, 2)) })
}

func TestFiniteUntil(t *testing.T) {
	x := make([]float64, 1500)
	for i := range x {
		x[i] = math.MaxFloat64
	}
	assert.Equal(t, 1500, FiniteUntil(x))
	assert.Zero(t, FiniteUntil(nil))
	for _, v := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		for i := range x {
			was := x[i]
			x[i] = v
			at := FiniteUntil(x)
			assert.True(t, at <= i && at > i-512, "%v in place %d, %d", v, i, at)
			x[i] = was
		}
	}
}

func BenchmarkLongVectors(b *testing.B) {
	for _, n := range []int{20, 100, 1500, 20000} {
		x, y := make([]float64, n), make([]float64, n)
		b.Run(fmt.Sprintf("n=%d/inner", n), func(b *testing.B) {
			for b.Loop() {
				InnerProduct(x, y)
			}
		})
		b.Run(fmt.Sprintf("n=%d/inner gonum", n), func(b *testing.B) {
			for b.Loop() {
				floats.Dot(x, y)
			}
		})
		b.Run(fmt.Sprintf("n=%d/add", n), func(b *testing.B) {
			for b.Loop() {
				AddScaled(x, 1, y)
			}
		})
		b.Run(fmt.Sprintf("n=%d/add gonum", n), func(b *testing.B) {
			for b.Loop() {
				floats.AddScaled(x, 1, y)
			}
		})
	}
}
