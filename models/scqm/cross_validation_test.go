package scqm

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// The values of Config.Ridge, as the model reports them.
func TestRidges(t *testing.T) {
	x := bentRowsOf(40, 4)
	x.Weights = nil
	for _, c := range []struct {
		given, want float64
		linear      bool
	}{{0, DefaultRidge, false}, {NoRidge, 0, false}, {0.5, 0.5, false}, {0.5, 0, true}, {AutoRidge, 0, true}} {
		m := learn(t, x, Config{Latent: 2, Loss: losses.SquaredL2(), Ridge: c.given, Linear: c.linear}).Model
		assert.InDelta(t, c.want, m.Meta.Ridge, 0)
		assert.Equal(t, c.want > 0, m.Meta.Penalty > 0, "ridge %g", c.given)
	}
}

// The ridge that rows held out choose: small where rows are many and exact, large
// where the curvature is of noise only. Neither the order of rows nor the number
// of threads matters.
func TestRidgeByRowsHeldOut(t *testing.T) {
	choose := func(x Data, threads int) Meta {
		return learn(t, x, Config{Latent: 2, Curvature: FullCurvature, Loss: losses.SquaredL2(), Ridge: AutoRidge, Seed: 3, Threads: threads}).Model.Meta
	}
	exact := bowlRows(t, 60, 4, 5)
	assert.InDelta(t, 1e-3, choose(exact, 1).Ridge, 0)

	noise := Data{N: 40, D: 6, X: gaussians(4, 40*6)}
	for i := range noise.N {
		noise.X[6*i] *= 10
		noise.X[6*i+1] *= 10
	}
	meta := choose(noise, 1)
	assert.GreaterOrEqual(t, meta.Ridge, 1.0)
	assert.Contains(t, meta.Notes[len(meta.Notes)-1], "rows held out")
	back := Data{N: noise.N, D: noise.D}
	for i := noise.N - 1; i >= 0; i-- {
		back.X = append(back.X, noise.Row(i)...)
	}
	assert.InDelta(t, meta.Ridge, choose(back, 2).Ridge, 0)

	few := Data{N: 8, D: 6, X: noise.X[:48]}
	assert.InDelta(t, DefaultRidge, choose(few, 1).Ridge, 0)
}

// A row of which the loss is not finite is named as the caller numbers it.
func TestRidgeByRowsHeldOutBlamesRows(t *testing.T) {
	x := bowlRows(t, 60, 4, 5)
	copy(x.Row(41), []float64{0, 0, 500, 0})
	copy(x.Row(40), []float64{0, 0, 0, 400})
	copy(x.Row(10), x.Row(3))
	loss := careless{blackBox: blackBox{Loss: losses.SquaredL2()}, at: func(norm float64) bool { return norm > 300 }, number: 1 / zero}
	_, err := Learn(t.Context(), x, Config{Latent: 1, Loss: loss, Ridge: AutoRidge})
	assert.ErrorIs(t, err, framework.ErrNonFinite)
	assert.ErrorContains(t, err, "row 41: loss careless: the value is +Inf")
}

var zero float64

// The time limit is that of all work, the choice of a ridge and the start too.
func TestTimeLimitCountsFromTheCall(t *testing.T) {
	x := bentRowsOf(300, 6)
	c := Config{Latent: 2, Loss: losses.L2(), Ridge: AutoRidge}
	c.Options.TimeLimit = time.Second
	c.Options.Begin = time.Now().Add(-2 * time.Second)
	fit, err := Learn(context.Background(), x, c)
	require.NoError(t, err)
	assert.Equal(t, "time_limit", fit.Model.Meta.Status)
	assert.Contains(t, fit.Model.Meta.Message, "time limit of 1s")
	assert.InDelta(t, DefaultRidge, fit.Model.Meta.Ridge, 0)
	assert.Contains(t, fit.Model.Meta.Notes[0], "no time to try")
	assert.Zero(t, fit.Run.Iterations)
	assert.GreaterOrEqual(t, fit.Run.Elapsed, 2*time.Second)
}

// A solver that would have another do its work is refused.
func TestSolverThatCannotServe(t *testing.T) {
	x := Data{N: 60, D: 784, X: gaussians(1, 60*784)}
	for _, s := range []framework.Solver{solvers.Newton{}, solvers.Continuation{Inner: solvers.Newton{}}} {
		_, err := Learn(context.Background(), x, Config{Latent: 2, Loss: losses.L2(), Solver: s})
		require.ErrorIs(t, err, ErrInput)
		assert.ErrorContains(t, err, "newton cannot fit 60 rows of 784 columns")
		assert.ErrorContains(t, err, "use auto, alternating, cg, lbfgs, rgd or trust_region")
	}
	run := learn(t, x, Config{Latent: 2, Loss: losses.L2(), Options: framework.Options{MaxIterations: 2}})
	assert.Equal(t, "alternating", run.Model.Meta.Solver)
}
