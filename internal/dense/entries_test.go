package dense

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Kernels of entries have the bits of plain Go, for any length, alignment and number, and where they
// overwrite an argument.
func TestEntries(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for trial := range 2000 {
		n := rng.IntN(70)
		at := rng.IntN(3)
		x, y := numbers(rng, n+at, specials[trial%2])[at:], numbers(rng, n+at, specials[trial%2])[at:]
		for name, pair := range map[string][2]func(dst, x, y []float64){
			"Products":   {Products, products},
			"Magnitudes": {func(dst, x, _ []float64) { Magnitudes(dst, x) }, func(dst, x, _ []float64) { magnitudes(dst, x) }},
			"Roots":      {func(dst, x, _ []float64) { Roots(dst, x) }, func(dst, x, _ []float64) { roots(dst, x) }},
			"WithSigns": {
				func(dst, x, y []float64) { WithSigns(dst, 2.5, x, y) },
				func(dst, x, y []float64) { withSigns(dst, 2.5, x, y) },
			},
		} {
			want, got := make([]float64, n), make([]float64, n)
			pair[1](want, x, y)
			pair[0](got, x, y)
			sameBits(t, want, got, "%s", name)
			over, other := append([]float64{}, x...), append([]float64{}, y...)
			pair[0](over, over, y)
			sameBits(t, want, over, "%s", name)
			pair[0](other, x, other)
			sameBits(t, want, other, "%s", name)
		}
	}
	assert.Panics(t, func() { Products(make([]float64, 3), make([]float64, 3), make([]float64, 2)) })
	assert.Panics(t, func() { Roots(make([]float64, 2), make([]float64, 3)) })
}
