package rows

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Entries far out come to where their column ends, all others stay; the unit and the order
// of the rows do not matter, and a row of weight 2 is two rows.
func TestDrawnIn(t *testing.T) {
	const n, D, far = 101, 4, 5
	rng := rand.New(rand.NewPCG(6, 1))
	x := Data{N: n, D: D, X: make([]float64, n*D)}
	for k := range x.X {
		x.X[k] = rng.NormFloat64()
		if k%D == 3 {
			x.X[k] = float64(min(k/D, 20)) // most of them are 20
		}
	}
	x.X[5], x.X[8], x.X[3] = 100, -1e9, -1e9
	before := slices.Clone(x.X)
	y := DrawnIn(x, far)
	assert.Equal(t, before, x.X, "the rows themselves stay")
	for k := range x.X {
		if k == 5 || k == 8 {
			assert.InDelta(t, math.Copysign(far, x.X[k]), y.X[k], 2, "a Gaussian column ends at 5 standard deviations")
		} else {
			assert.Equal(t, x.X[k], y.X[k], "entry %d", k)
		}
	}

	double, weighted := x, x
	double.N, double.X = n+1, append(slices.Clone(x.X), x.Row(0)...)
	weighted.Weights = slices.Repeat([]float64{1}, n)
	weighted.Weights[0] = 2
	assert.Equal(t, DrawnIn(double, far).X[:n*D], DrawnIn(weighted, far).X)

	scaled := Data{N: n, D: D, X: slices.Clone(x.X)}
	for k := range scaled.X {
		scaled.X[k] *= 0x1p-300
	}
	z := DrawnIn(scaled, far)
	for k := range z.X {
		assert.Equal(t, y.X[k], z.X[k]*0x1p300, "entry %d", k)
	}
}
