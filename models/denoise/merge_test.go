package denoise

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/rows"
)

// TestWeightsAreRepetitions: a row of weight 2 and the row given twice have the
// same result, to the last bit.
func TestWeightsAreRepetitions(t *testing.T) {
	x := sphereSample(5, 60, 0.06).x
	twice := x
	twice.X = append(append([]float64(nil), x.X...), x.X[:20*3]...)
	twice.N += 20
	x.Weights = make([]float64, x.N)
	for i := range x.Weights {
		x.Weights[i] = 1
		if i < 20 {
			x.Weights[i] = 2
		}
	}
	for name, m := range everyMethod(t, 2) {
		weighted, err := Fit(context.Background(), m, x, Options{})
		require.NoError(t, err, name)
		repeated, err := Fit(context.Background(), m, twice, Options{})
		require.NoError(t, err, name)
		some := rows.Data{N: 12, D: 3, X: x.X[10*3 : 22*3]}
		want, err := weighted.Denoise(context.Background(), some, Options{})
		require.NoError(t, err, name)
		got, err := repeated.Denoise(context.Background(), some, Options{})
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
	}
}
