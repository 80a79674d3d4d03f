package scqm

import (
	"context"
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
	for _, name := range []string{"l2", "mahalanobis", "lp 4"} {
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
	m.Loss = named(t, "l1", x.D)
	_, err = collected(t, m, Data{N: x.N, D: x.D, X: x.X})
	require.ErrorIs(t, err, ErrAllRows)
}

// What single blocks say merges to the same response wherever they are summed, with weights
// too, and goes on from its bytes.
func TestResponseOfParts(t *testing.T) {
	x := bentRows(3, 3*BlockRows+40, 5)
	x.Weights = make([]float64, x.N)
	for i := range x.Weights {
		x.Weights[i] = 1 + float64(i%3)
	}
	m := learn(t, x, Config{Latent: 1, Loss: named(t, "huber", x.D)}).Model
	m.Tau = nil
	want, err := m.Influence(t.Context(), x, 2)
	require.NoError(t, err)
	r, err := m.ResponseFrom(t.Context(), &partsEngine{LocalEngine{Source: x, Loss: m.Loss}})
	require.NoError(t, err)
	assert.Equal(t, want.Remaining, r.Remaining)
	b, err := r.MarshalBinary()
	require.NoError(t, err)
	r, err = m.ReadResponse(t.Context(), b)
	require.NoError(t, err)
	var list []RowInfluence
	for first := 0; first < x.N; first += 1500 { // any rows
		to := min(first+1500, x.N)
		part := Data{N: to - first, D: x.D, X: x.X[first*x.D : to*x.D], Weights: x.Weights[first:to]}
		_, err := r.LeaveOut(t.Context(), part, first, 1, func(_ int, rows []RowInfluence) error {
			list = append(list, rows...)
			return nil
		})
		require.NoError(t, err)
	}
	assert.Equal(t, want.Rows, list)
	_, err = r.LeaveOut(t.Context(), x, 1, 1, nil)
	require.ErrorIs(t, err, ErrInput)
	for _, bad := range [][]byte{nil, b[:len(b)-1], append([]byte{1}, b[1:]...)} {
		_, err = m.ReadResponse(t.Context(), bad)
		require.ErrorIs(t, err, ErrInput)
	}
	other := learn(t, Data{N: x.N, D: x.D, X: x.X}, Config{Latent: 2, Loss: m.Loss}).Model
	_, err = other.ReadResponse(t.Context(), b)
	require.ErrorIs(t, err, ErrInput)
}

// partsEngine sums every block by itself, from the last one to the first.
type partsEngine struct{ LocalEngine }

func (e *partsEngine) Sum(ctx context.Context, r *Request) (*Partial, error) {
	var whole *Partial
	for b := Blocks(r.N) - 1; b >= 0; b-- {
		p, err := sumBlocks(ctx, r, e.Source, e.Loss, b, 1)
		if err != nil {
			return nil, err
		}
		if whole == nil {
			whole = p
		} else if err := r.Merge(whole, p); err != nil {
			return nil, err
		}
	}
	return whole, nil
}
