package scqm

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// collected returns the influences of rows of a source, found block by block.
func collected(t *testing.T, m *Model, src Source) (*Influence, error) {
	t.Helper()
	var list []RowInfluence
	out, err := m.InfluenceFrom(t.Context(), src, 1, func(first int, rows []RowInfluence) error {
		assert.Len(t, list, first)
		list = append(list, rows...)
		return nil
	})
	if err == nil {
		out.Rows = list
	}
	return out, err
}

// Influences found block by block are those found in memory, whether the model has the
// coordinates of the rows or not.
func TestInfluenceFromIsInfluence(t *testing.T) {
	x := bentRows(3, BlockRows+40, 5)
	for _, name := range []string{"l2", "mahalanobis"} {
		m := learn(t, x, Config{Latent: 1, Loss: named(t, name, x.D)}).Model
		for _, tau := range [][]float64{m.Tau, nil} {
			m.Tau = tau
			want, err := m.Influence(t.Context(), x, 1)
			require.NoError(t, err, name)
			got, err := collected(t, m, x)
			require.NoError(t, err, name)
			assert.Equal(t, want, got, name)
		}
	}
}

func TestInfluenceFromRefuses(t *testing.T) {
	x := bentRows(3, BlockRows+40, 5)
	m := learn(t, x, Config{Latent: 1, Loss: named(t, "l2", x.D)}).Model
	touched := Data{N: x.N, D: x.D, X: append([]float64{}, x.X...)}
	at, err := m.Project(t.Context(), Data{N: 1, D: x.D, X: x.Row(5)}, 1)
	require.NoError(t, err)
	copy(touched.Row(5), at)
	m.Meta.N = 0 // the objective is that of other rows
	_, err = collected(t, m, touched)
	require.ErrorIs(t, err, ErrAllRows)
	m.Meta.N = x.N
	_, err = collected(t, m, touched)
	require.ErrorIs(t, err, ErrInput)
	assert.ErrorContains(t, err, "give the same rows")
	touched.Row(BlockRows + 7)[3] = math.NaN()
	_, err = collected(t, m, touched)
	assert.ErrorContains(t, err, "row 1031, column 3 is NaN")
	x.Weights = make([]float64, x.N)
	_, err = collected(t, m, x)
	require.ErrorIs(t, err, ErrAllRows)
	m.Loss = named(t, "l1", x.D)
	_, err = collected(t, m, Data{N: x.N, D: x.D, X: x.X})
	require.ErrorIs(t, err, ErrAllRows)
}
