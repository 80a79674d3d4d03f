package dense

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/floats"
)

func TestGramRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for _, p := range []int{0, 1, 2, 3, 4, 5, 6, 7, 11, 16} {
		for _, n := range []int{0, 1, 3, 4, 9, 511, 512, 519, 1030} {
			f, got := make([]float64, p*n), make([]float64, p*p)
			for i := range f {
				f[i] = rng.NormFloat64()
			}
			for i := range got {
				got[i] = 7
			}
			GramRows(got, f, p, n)
			for q := range p {
				for k := range p {
					if k > q {
						assert.Equal(t, 7.0, got[q*p+k], "the upper triangle is not touched")
						continue
					}
					assert.InDelta(t, floats.Dot(f[q*n:(q+1)*n], f[k*n:(k+1)*n]), got[q*p+k], 1e-14*float64(n+1), "%d %d", p, n)
				}
			}
		}
	}
}

func TestProducts2x4(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	a, b := make([]float64, 200), make([]float64, 200)
	for i := range a {
		a[i], b[i] = rng.NormFloat64(), rng.NormFloat64()
	}
	for n := range 40 {
		for stride := n; stride < n+3; stride++ {
			var want, got [8]float64
			products2x4Plain(&want, a, b, stride, n)
			products2x4(&got, a, b, stride, n)
			assert.Equal(t, want, got, "%d %d", n, stride)
		}
	}
	var dst [8]float64
	assert.Panics(t, func() { products2x4(&dst, a[:19], b, 10, 10) })
	assert.Panics(t, func() { products2x4(&dst, a, b[:39], 10, 10) })
}

func BenchmarkGramRows(b *testing.B) {
	for _, size := range [][2]int{{16, 210}, {69, 248}, {105, 796}, {200, 1194}} {
		p, n := size[0], size[1]
		f, dst := make([]float64, p*n), make([]float64, p*p)
		b.Run(fmt.Sprintf("%dx%d", p, n), func(b *testing.B) {
			for b.Loop() {
				GramRows(dst, f, p, n)
			}
		})
		b.Run(fmt.Sprintf("%dx%d/rows", p, n), func(b *testing.B) {
			for b.Loop() {
				for q := range p {
					for k := range q + 1 {
						dst[q*p+k] = floats.Dot(f[q*n:(q+1)*n], f[k*n:(k+1)*n])
					}
				}
			}
		})
	}
}
