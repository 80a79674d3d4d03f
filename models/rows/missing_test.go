package rows

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var nan = math.NaN()

func TestMissingValidate(t *testing.T) {
	x := Data{N: 3, D: 2, X: []float64{1, nan, nan, 2, 3, 4}}
	require.ErrorContains(t, x.Validate(), "row 0, column 1 is NaN")
	x.Missing = true
	require.NoError(t, x.Validate())
	require.NoError(t, x.ValidateColumns())
	x.Weights = []float64{0, 1, 0}
	require.ErrorContains(t, x.ValidateColumns(), "column 0 has no entry")
	x.X = []float64{1, nan, nan, nan, 3, 4}
	require.ErrorContains(t, x.Validate(), "row 1 has no entry")
}

func TestMissingMeanAndUnit(t *testing.T) {
	x := Data{N: 3, D: 3, X: []float64{nan, 2, nan, 4, nan, nan, 8, 6, nan}, Weights: []float64{1, 3, 1}, Missing: true}
	assert.Equal(t, []float64{5, 4, 0}, Mean(x))
	big := Data{N: 2, D: 2, X: []float64{nan, 0x1p200, 1, -0x1p200}, Missing: true}
	assert.Equal(t, 0x1p202, WorkingUnit(big))
}

func TestMissingRowsMerge(t *testing.T) {
	other := math.Float64frombits(math.Float64bits(nan) ^ 2) // another NaN
	require.True(t, math.IsNaN(other))
	x := Data{N: 4, D: 2, X: []float64{1, nan, nan, 1, 1, other, 1, 2}, Missing: true}
	assert.True(t, Repeats(x))
	m := Merge(x)
	assert.Equal(t, 3, m.Data.N)
	assert.True(t, m.Data.Missing)
	assert.Equal(t, m.Row[0], m.Row[2])
	assert.Equal(t, 2., m.Data.Weights[m.Row[0]])
}

// Completion finds the entries of rows on a line, shrunk by the little noise there is
// between them, and leaves those that are there.
func TestComplete(t *testing.T) {
	x := Data{N: 40, D: 4, Missing: true}
	for i := range x.N {
		v := float64(i) - 20
		x.X = append(x.X, v, 2*v, -v, 3+v)
	}
	whole := append([]float64(nil), x.X...)
	for k := 3; k < len(x.X); k += 7 {
		x.X[k] = nan
	}
	y, err := Complete(context.Background(), x, 1, 1)
	require.NoError(t, err)
	assert.False(t, y.Missing)
	assert.InDeltaSlice(t, whole, y.X, 0.05)
	for k, v := range x.X {
		if v == v {
			assert.Equal(t, v, y.X[k])
		}
	}
	again, err := Complete(context.Background(), x, 1, 3)
	require.NoError(t, err)
	assert.Equal(t, y.X, again.X)
}
