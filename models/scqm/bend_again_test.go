package scqm

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// wavyRows returns noisy rows of (u, v, sin 2u + v^2, 0, 0), which principal components are
// a poor start for.
func wavyRows(n int, noise float64, rng *rand.Rand) Data {
	x := Data{N: n, D: 5, X: make([]float64, 5*n)}
	for i := range n {
		u, v := 2*rng.Float64()-1, 2*rng.Float64()-1
		for j, clean := range []float64{u, v, math.Sin(2*u) + v*v, 0, 0} {
			x.Row(i)[j] = clean + noise*rng.NormFloat64()
		}
	}
	return x
}

// A fit that bends strongly begins once more from its flat sheet, and takes a lower minimum
// that it finds there. Without a ridge nothing is tried.
func TestBendAgainFindsLowerMinima(t *testing.T) {
	cost := func(x Data, ridge float64, again bool) float64 {
		c := Config{Latent: 2, Loss: losses.SquaredL2(), Threads: 1, Ridge: ridge}
		p, err := NewProblem(t.Context(), x, c.Loss, 2, 3, 1)
		require.NoError(t, err)
		p.together, p.bentAgain = (*Problem).reassignTogether, !again
		s, err := p.newStarts(c, nil)
		require.NoError(t, err)
		start, err := s.point(0)
		require.NoError(t, err)
		solver := solvers.Auto(p)
		run, err := p.minimize(t.Context(), start, solver, c.options(x, solver))
		require.NoError(t, err)
		return run.Cost
	}
	var once, again float64
	for seed := range uint64(8) { // which of them have a lower minimum is a matter of rounding
		x := wavyRows(200, 0.2, rand.New(rand.NewPCG(seed+1, 4200)))
		first, second := cost(x, DefaultRidge, false), cost(x, DefaultRidge, true)
		assert.LessOrEqual(t, second, first, seed)
		once, again = once+first, again+second
	}
	assert.Less(t, again, 0.96*once)
	x := wavyRows(200, 0.2, rand.New(rand.NewPCG(6, 4200)))
	assert.Equal(t, cost(x, NoRidge, false), cost(x, NoRidge, true))
}

// Such a fit does not depend on the number of threads, and goes on from wherever it was stored; and so does the
// second one, whose rows are reassigned every twenty passes.
func TestBendAgainResumes(t *testing.T) {
	for _, seed := range []uint64{6, 2} {
		x := wavyRows(200, 0.2, rand.New(rand.NewPCG(seed, 4200)))
		fit := func(threads int, checkpoint *framework.Checkpoint) Meta {
			c := Config{Latent: 2, Loss: losses.SquaredL2(), Threads: threads, Options: framework.Options{Checkpoint: checkpoint}}
			return learn(t, x, c).Model.Meta
		}
		var stored [][]byte
		want := fit(1, storing(&stored))
		assert.Equal(t, "converged", want.Status)
		assert.Equal(t, want, fit(2, nil))
		for k := len(stored) - 1; k > 0; k -= 1 + len(stored)/20 {
			assert.Equal(t, want, fit(1, resuming(stored[k])), "seed %d, store %d of %d", seed, k, len(stored))
		}
	}
}

// Where the context is done the point stays.
func TestBendAgainIsCancelled(t *testing.T) {
	x := wavyRows(200, 0.2, rand.New(rand.NewPCG(6, 4200)))
	ctx, cancel := context.WithCancel(t.Context())
	c := Config{Latent: 2, Loss: losses.SquaredL2(), Threads: 1}
	p, err := NewProblem(ctx, x, c.Loss, 2, 3, 1)
	require.NoError(t, err)
	s, err := p.newStarts(c, nil)
	require.NoError(t, err)
	start, err := s.point(0)
	require.NoError(t, err)
	for i := range start[BlockTheta] {
		start[BlockTheta][i] = 10
	}
	cancel()
	before := start.Clone()
	moved, _, _ := p.bendAgain(start)
	assert.False(t, moved)
	assert.Equal(t, before, start)
}
