package objective

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
)

// Residuals of surfaces in space have the bits of those of any sheet.
func TestSurfaceResiduals(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const n = 37
	x := rows.Data{N: n, D: 3, X: make([]float64, 3*n)}
	for i := range x.X {
		x.X[i] = 5 + rng.NormFloat64()
	}
	p, err := New(t.Context(), x, losses.SquaredL2(), 2, 1, 1)
	require.NoError(t, err)
	at := framework.NewPoint(p.Blocks())
	for _, block := range at {
		for i := range block {
			block[i] = rng.NormFloat64()
		}
	}
	p.sheet.Load(at[BlockC], at[BlockQ], at[BlockTheta])
	w := p.Worker(0)
	var all [2][][]float64
	for k, write := range []func(r []float64){
		func(r []float64) { p.surfaceResiduals(w, r, at[BlockTau][2:], 1, false) },
		func(r []float64) { p.anyResiduals(w, r, at[BlockTau][2:], 1, false) },
	} {
		r := make([]float64, 3*(n-1))
		clear(w.Z)
		clear(w.Phi)
		write(r)
		all[k] = [][]float64{r, append([]float64{}, w.Z...), append([]float64{}, w.Phi...)}
	}
	assert.Equal(t, all[1], all[0])
	assert.NotZero(t, all[0][0][3*n-4])
}
