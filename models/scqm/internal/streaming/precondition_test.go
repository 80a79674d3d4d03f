package streaming

import (
	"testing"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/problemtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// What is preconditioned, times kappa M, is what it was.
func TestFlatStreamPreconditioner(t *testing.T) {
	const D, d = 6, 2
	x := bentRows(3, 2000, D)
	loss := losses.L1()
	p := New(t.Context(), &engine{x, loss}, loss, d, 0)
	starts, err := p.NewStarts(Settings{Ridge: 1e-3})
	require.NoError(t, err)
	at, err := starts.point(0)
	require.NoError(t, err)
	flat := p.conditioned().(*flatProblem)
	_, err = flat.BuildPreconditioner(at)
	require.NoError(t, err)
	reads := p.reads
	o, err := p.firstOrder(at)
	require.NoError(t, err)
	assert.Equal(t, reads, p.reads, "the gradient at the point was there")
	kappa, err := flat.bend(o.Cost / o.Weight)
	require.NoError(t, err)
	assert.InEpsilon(t, D*o.Weight/o.Cost, kappa, 1e-9, "1/|r| where all entries have the mean loss")

	v := framework.NewPoint(p.Blocks())
	copy(v[objective.BlockC], problemtest.Gaussians(1, D))
	copy(v[objective.BlockQ], problemtest.Gaussians(2, D*d))
	h := framework.NewPoint(p.Blocks())
	flat.Precondition(h, v)
	for k := range D {
		h0, row := h[objective.BlockC][k], h[objective.BlockQ][k*d:(k+1)*d]
		assert.InDelta(t, v[objective.BlockC][k], kappa*(o.Weight*h0+floats.Dot(o.TauSum, row)), 1e-9)
		for j := range d {
			assert.InDelta(t, v[objective.BlockQ][k*d+j], kappa*(o.TauSum[j]*h0+floats.Dot(o.TauSquares[j*d:(j+1)*d], row)), 1e-9)
		}
	}
	flat.Precondition(v, v)
	assert.Equal(t, h, v, "in place")
	p.spread = 0
	kappa, err = flat.bend(0)
	require.NoError(t, err)
	assert.Equal(t, 1.0, kappa, "equal rows")
	bent := New(t.Context(), &engine{x, loss}, loss, d, 1)
	assert.Same(t, bent, bent.conditioned())
}
