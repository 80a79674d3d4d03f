package scqm

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/floats"
)

// The sum of unit vectors to the rows vanishes at their geometric median, a
// weight counts as so many rows, and one row far away hardly moves it.
func TestGeometricMedian(t *testing.T) {
	x := Data{N: 41, D: 3, X: gaussians(3, 123)}
	c := geometricMedian(x)
	pull := make([]float64, 3)
	for i := range x.N {
		unit := make([]float64, 3)
		floats.SubTo(unit, x.Row(i), c)
		floats.AddScaled(pull, 1/floats.Norm(unit, 2)/float64(x.N), unit)
	}
	assert.Less(t, floats.Norm(pull, 2), 1e-4)

	heavy := x
	heavy.Weights = make([]float64, x.N)
	floats.AddConst(1, heavy.Weights)
	heavy.Weights[4] = 3
	twice := Data{N: 43, D: 3, X: append(append(append([]float64(nil), x.X...), x.Row(4)...), x.Row(4)...)}
	assert.InDeltaSlice(t, geometricMedian(twice), geometricMedian(heavy), 1e-5)

	far := Data{N: 41, D: 3, X: append([]float64(nil), x.X...)}
	floats.AddConst(1e9, far.Row(7))
	assert.InDeltaSlice(t, c, geometricMedian(far), 0.3)
	assert.Equal(t, []float64{1, 2}, geometricMedian(Data{N: 2, D: 2, X: []float64{1, 2, 1, 2}}))
}
