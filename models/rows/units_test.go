package rows

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/losses"
)

func TestUnitOf(t *testing.T) {
	for size, want := range map[float64]float64{
		0: 1, 1e-30: 1, 3: 1, 1e30: 1, math.Inf(1): 1, 0x1p200: 0x1p201, 0x1.8p-200: 0x1p-199,
	} {
		assert.Equal(t, want, UnitOf(size), "%g", size)
	}
}

// Partial products beyond float64 do no harm, and a product beyond it is the
// largest number of its sign.
func TestProduct(t *testing.T) {
	assert.Equal(t, 0x1p-10, Product(0x1p1000, 0x1p1000, 0x1p-1000, 0x1p-1010))
	assert.Equal(t, math.MaxFloat64, Product(1e300, 1e300))
	assert.Equal(t, -math.MaxFloat64, Product(-1e300, 1e300))
	assert.Zero(t, Product(0, 1e300, 1e300))
}

func TestCheckSums(t *testing.T) {
	x := Data{N: 3, D: 2, X: []float64{1, 0, 0, 1, -1, -1}}
	require.NoError(t, CheckSums(x, losses.SquaredL2(), 1e150, 1e300))
	require.NoError(t, CheckSums(Data{N: 2, D: 1, X: []float64{1, 1}}, losses.L2(), 1e-300, 0), "all rows are equal")
	err := CheckSums(x, losses.SquaredL2(), 1e154, 1e308)
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, "squared_l2 is too large for float64; rescale them, as by dividing all columns by 1e+154")
	require.ErrorContains(t, CheckSums(x, losses.SquaredL2(), 1e-160, 1e-320), "too small")
}
