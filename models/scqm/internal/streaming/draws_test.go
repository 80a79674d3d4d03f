package streaming

import (
	"math"
	"slices"
	"testing"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/models/scqm/internal/problemtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// Where some rows are far away the draws by l2 that losses by entry begin with leave little of what
// principal components are above the minimum; other losses have none.
func TestDrawsNearby(t *testing.T) {
	x := bentRows(7, 16*blocks.Rows, 10)
	far := problemtest.Gaussians(8, x.N/20*x.D)
	for i := range x.N / 20 {
		floats.AddScaled(x.Row(20*i), 5, far[i*x.D:(i+1)*x.D])
	}
	problem := func(name string) *Problem {
		loss := problemtest.Named(t, name, x.D)
		p := New(t.Context(), &engine{x, loss}, loss, 2, 3)
		p.draws = newDraws(x.N, 1)
		return p
	}
	assert.Zero(t, problem("mahalanobis").Draws())
	p := problem("l1")
	require.Equal(t, 16, p.Draws())
	starts, err := p.newStarts(Settings{Ridge: 1e-3})
	require.NoError(t, err)
	at, err := starts.point(0)
	require.NoError(t, err)
	require.NoError(t, p.findScale(at))
	before, err := p.Evaluate(nil, at)
	require.NoError(t, err)
	for k := range 4 {
		require.NoError(t, p.SweepDraw(at, at.Clone(), k, math.Pow(float64(k+2), -0.7)))
	}
	assert.Equal(t, "l1", p.loss.Name())
	after, err := p.Evaluate(nil, at)
	require.NoError(t, err)
	t.Log(before, after)
	assert.Less(t, after, 0.9*before)
}

// A sample is the sum over its blocks and their share of the penalty, and gone afterwards; the
// larger contain the smaller.
func TestSamples(t *testing.T) {
	x := bentRows(3, 16*blocks.Rows, 5)
	loss := problemtest.Named(t, "mahalanobis", 5)
	p := New(t.Context(), &engine{x, loss}, loss, 1, 1)
	assert.Zero(t, p.Parts(), "blocks are not drawn")
	p.draws = newDraws(x.N, 1)
	starts, err := p.newStarts(Settings{Ridge: 1e-3})
	require.NoError(t, err)
	at, err := starts.point(0)
	require.NoError(t, err)
	require.Equal(t, 16, p.Parts())
	whole, err := p.Evaluate(nil, at)
	require.NoError(t, err)
	lambda := p.Lambda
	p.Sample(4)
	small := slices.Clone(p.sample)
	assert.InEpsilon(t, lambda/4, p.Lambda, 1e-15)
	part, err := p.Evaluate(nil, at)
	require.NoError(t, err)
	assert.InEpsilon(t, whole/4, part, 0.05)
	p.Sample(8)
	assert.InEpsilon(t, lambda/2, p.Lambda, 1e-15)
	assert.Len(t, p.sample, 8)
	assert.Subset(t, p.sample, small)
	p.Sample(16)
	assert.Nil(t, p.sample)
	again, err := p.Evaluate(nil, at)
	require.NoError(t, err)
	assert.Equal(t, whole, again)
	assert.InEpsilon(t, 2*p.SamplingError(8), p.SamplingError(4), 1e-15)

	reads := framework.NewEvaluator(t.Context(), p)
	before := p.summed
	require.NoError(t, latent.Sample(reads, 4, func() error {
		_, err := reads.Evaluate(nil, framework.NewPoint(p.blocks))
		return err
	}))
	assert.Equal(t, 4, p.summed-before)
	assert.Equal(t, framework.Counts{Evaluations: 1, Passes: 0.25}, reads.Counts())
}
