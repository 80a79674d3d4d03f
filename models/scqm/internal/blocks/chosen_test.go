package blocks

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
)

// Sums of chosen blocks are those of a table that has no others, whatever parts of the
// blocks are asked, those without any of them too, and whatever the number of threads.
func TestChosenBlocks(t *testing.T) {
	ctx, loss := t.Context(), losses.L2()
	chosen := []int{1, 4, 5, 8}
	r, x := request(Sweep, 8*Rows+100, 3, 1, 1)
	few := *r
	few.N = 3*Rows + 100
	var data []float64
	for _, b := range chosen {
		data = append(data, x.X[b*Rows*3:min((b+1)*Rows, x.N)*3]...)
	}
	alone, err := few.Partial(ctx, rows.Data{N: few.N, D: 3, X: data}, loss, 0, 4, 1, nil)
	require.NoError(t, err)
	want, _, err := few.Total(alone)
	require.NoError(t, err)

	r.Chosen = chosen
	sent, err := r.MarshalBinary()
	require.NoError(t, err)
	var there Request
	require.NoError(t, there.UnmarshalBinary(sent))
	assert.Equal(t, chosen, there.Chosen)
	for _, cuts := range [][]int{{0, 9}, {0, 2, 4, 9}, {0, 1, 5, 6, 7, 9}} {
		var whole *Partial
		for k, first := range cuts[:len(cuts)-1] {
			p, err := there.Partial(ctx, x, loss, first, cuts[k+1]-first, k, nil)
			require.NoError(t, err)
			sent, err := p.MarshalBinary()
			require.NoError(t, err)
			back := new(Partial)
			require.NoError(t, back.UnmarshalBinary(sent))
			if whole == nil {
				whole = back
				continue
			}
			require.NoError(t, r.Merge(whole, back))
		}
		got, _, err := r.Total(whole)
		require.NoError(t, err)
		assert.Equal(t, want, got, cuts)
	}

	x.X[5*Rows*3+4] = math.NaN()
	_, err = r.Partial(ctx, x, loss, 0, 9, 1, nil)
	require.ErrorIs(t, err, rows.ErrInput)
	assert.ErrorContains(t, err, "row 5121, column 1 is NaN")
}

// Lists that are no ascending blocks of the table are refused.
func TestChosenBlocksAreChecked(t *testing.T) {
	r, x := request(Sweep, 3*Rows, 3, 1, 1)
	for _, chosen := range [][]int{{}, {-1}, {3}, {1, 1}, {2, 1}} {
		r.Chosen = chosen
		_, err := r.Partial(t.Context(), x, losses.L2(), 0, 3, 1, nil)
		assert.ErrorIs(t, err, rows.ErrInput, chosen)
	}
}
