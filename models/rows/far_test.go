package rows

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
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

// Numbers have the places that sorting them stably gives, with those of rows without
// weight last.
func TestRanked(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	x := make([]float64, 3000)
	for i := range x {
		switch rng.IntN(4) {
		case 0:
			x[i] = math.Ldexp(rng.Float64(), rng.IntN(2000)-1000)
		case 1:
			x[i] = float64(rng.IntN(5))
		case 2:
			x[i] = math.Inf(1)
		default:
			x[i] = math.NaN()
		}
	}
	var order []int
	for i, v := range x {
		if v == v {
			order = append(order, i)
		}
	}
	sort.SliceStable(order, func(i, j int) bool { return x[order[i]] < x[order[j]] })
	for _, place := range []int{0, 1, 400, 700, 1000, len(order) - 1} {
		assert.Equal(t, order[place], ranked(x, place), place)
	}
}
