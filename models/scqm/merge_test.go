package scqm

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/losses"
)

// TestRepeatedRowsAreWeights gives rows twice, weighs them twice and leaves rows
// out by weight, in another order: the bits of the model are the same.
func TestRepeatedRowsAreWeights(t *testing.T) {
	const n, D = 30, 4
	x := gaussians(7, n*D)
	weighted := Data{N: n, D: D, X: make([]float64, n*D), Weights: make([]float64, n)}
	repeated := Data{D: D}
	for i := range n {
		row, back, w := x[i*D:(i+1)*D], n-1-i, float64(i%4)
		copy(weighted.Row(back), row)
		weighted.Weights[back] = w
		for range i % 4 {
			repeated.X = append(repeated.X, row...)
			repeated.N++
		}
	}
	c := Config{Latent: 2, Loss: losses.L2(), Ridge: 0.1}
	a, err := Learn(context.Background(), weighted, c)
	require.NoError(t, err)
	b, err := Learn(context.Background(), repeated, c)
	require.NoError(t, err)
	for _, pair := range [][2][]float64{{a.Model.C, b.Model.C}, {a.Model.U, b.Model.U}, {a.Model.V, b.Model.V}, {a.Model.Theta, b.Model.Theta}} {
		assert.Equal(t, pair[0], pair[1])
	}
	assert.Equal(t, a.Model.Meta.Objective, b.Model.Meta.Objective)
	assert.Equal(t, n, a.Model.Meta.N)
	assert.Len(t, b.Model.Tau, 2*repeated.N)

	// Rows without weight have the coordinates of their projections.
	tau, err := a.Model.Transform(context.Background(), weighted, 1)
	require.NoError(t, err)
	for i, w := range weighted.Weights {
		if w == 0 {
			assert.Equal(t, tau[2*i:2*i+2], a.Model.Tau[2*i:2*i+2])
		}
	}
}

func TestDistinctRowsAreNotCopied(t *testing.T) {
	m, _, err := merge(Data{N: 10, D: 3, X: gaussians(1, 30)})
	require.NoError(t, err)
	assert.Nil(t, m)
	m, held, err := merge(Data{N: 2, D: 1, X: []float64{0, negativeZero()}})
	require.NoError(t, err)
	defer held.Release()
	assert.NotNil(t, m, "the zeros are equal")
}

func negativeZero() float64 { return math.Copysign(0, -1) }
