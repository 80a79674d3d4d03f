package rows

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A row farther away than float64 has digits is refused by name, wherever it is; what is
// far in another way is not.
func TestValidateSpread(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 14))
	gaussian := func() Data {
		x := Data{N: 30, D: 3, X: make([]float64, 90)}
		for i := range x.X {
			x.X[i] = rng.NormFloat64()
		}
		return x
	}
	for _, at := range []int{0, 1, 17, 29} {
		for _, far := range []float64{1e15, -1e20, 1e300} {
			x := gaussian()
			x.Row(at)[2] = far
			err := x.ValidateSpread()
			assert.ErrorIs(t, err, ErrInput)
			assert.ErrorContains(t, err, fmt.Sprintf("row %d is", at))
			x.Weights = make([]float64, 30)
			for i := range x.Weights {
				x.Weights[i] = 1
			}
			x.Weights[at] = 0
			assert.NoError(t, x.ValidateSpread())
		}
	}
	near := gaussian()
	near.Row(4)[0] = 1e12
	assert.NoError(t, near.ValidateSpread())
	units := gaussian()
	for i := range units.N {
		units.Row(i)[1] *= 1e20
	}
	assert.NoError(t, units.ValidateSpread())
	equal := Data{N: 20, D: 1, X: make([]float64, 20)}
	equal.X[7] = 1e30
	assert.NoError(t, equal.ValidateSpread(), "nothing sets the others apart")
	rounded := gaussian()
	for i := range 20 {
		copy(rounded.Row(i), rounded.Row(20))
		rounded.Row(i)[i%3] *= 1 + 0x1p-52*float64(i)
	}
	assert.NoError(t, rounded.ValidateSpread())
	huge := Data{N: 4, D: 1, X: []float64{math.MaxFloat64, -math.MaxFloat64, 0, 1e308}}
	assert.NoError(t, huge.ValidateSpread())
	holes := gaussian()
	holes.Missing = true
	holes.X[5], holes.X[50] = math.NaN(), 1e20
	assert.ErrorIs(t, holes.ValidateSpread(), ErrInput)
}
