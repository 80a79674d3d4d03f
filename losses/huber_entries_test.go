package losses_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
)

func huberEntries(t testing.TB, delta float64) framework.Loss {
	l, err := losses.HuberEntries(delta)
	require.NoError(t, err)
	return l
}

// The loss of a row is the sum of those of its entries under huber.
func TestHuberEntriesIsHuberOfEntries(t *testing.T) {
	r := []float64{0.3, -2, 0, 0.7, 5, -0.1}
	rows, entries := make([]float64, 2), make([]float64, 6)
	grad, single := make([]float64, 6), make([]float64, 6)
	require.NoError(t, huberEntries(t, 0.7).Evaluate(rows, grad, r, 3))
	require.NoError(t, huber(t, 0.7).Evaluate(entries, single, r, 1))
	assert.InDelta(t, entries[0]+entries[1]+entries[2], rows[0], 1e-15)
	assert.InDelta(t, entries[3]+entries[4]+entries[5], rows[1], 1e-15)
	assert.InDeltaSlice(t, single, grad, 1e-15)
	for _, delta := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := losses.HuberEntries(delta)
		require.ErrorIs(t, err, framework.ErrInvalid)
	}
}
