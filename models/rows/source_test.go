package rows_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/rows"
)

func TestDataAreASource(t *testing.T) {
	var source rows.Source = rows.Data{N: 3, D: 2, X: []float64{1, 2, 3, 4, 5, 6}}
	n, d := source.Shape()
	assert.Equal(t, []int{3, 2}, []int{n, d})
	dst := make([]float64, 4)
	require.NoError(t, source.ReadRows(t.Context(), dst, 1))
	assert.Equal(t, []float64{3, 4, 5, 6}, dst)
	for _, first := range []int{-1, 2} {
		assert.ErrorIs(t, source.ReadRows(t.Context(), dst, first), rows.ErrInput)
	}
	assert.ErrorIs(t, source.ReadRows(t.Context(), dst[:3], 0), rows.ErrInput)
}
