package scqm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
)

// Huber's loss of entries starts from the components of rows whose entries far out are
// drawn in; those of the rows as they are run along such entries. The rows lie in three
// of the eight coordinates.
func TestStartByEntriesOfWhichSomeAreWrong(t *testing.T) {
	byEntries, err := losses.HuberEntries(0.07)
	require.NoError(t, err)
	x := bowlRows(t, 200, 8, 20)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		x.Row(rng.IntN(x.N))[3+rng.IntN(5)] = 50
	}
	before := slices.Clone(x.X)
	within := func(loss framework.Loss) float64 {
		p, err := NewProblem(t.Context(), x, loss, 2, 1, 1)
		require.NoError(t, err)
		s, err := p.newStarts(Config{Latent: 2, Loss: loss, Ridge: DefaultRidge}, nil)
		require.NoError(t, err)
		start, err := s.point(0)
		require.NoError(t, err)
		q, share := start[BlockQ], 0.0 // D x 3
		for j := range 3 {
			for k := range 2 {
				share += q[j*3+k] * q[j*3+k] / 2
			}
		}
		return share
	}
	assert.Greater(t, within(byEntries), 0.9)
	assert.Less(t, within(losses.SquaredL2()), 0.1)
	assert.True(t, floats.Equal(before, x.X), "the rows themselves stay")
}
