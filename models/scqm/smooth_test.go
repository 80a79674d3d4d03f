package scqm

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/solvers"
)

func TestSmoothedProblemLaws(t *testing.T) {
	for _, name := range []string{"l1", "l2", "lp 1.5"} {
		p, x := smallProblem(t, named(t, name, 6), 2, 3, true)
		plain, err := p.Evaluate(nil, x)
		require.NoError(t, err)
		p.Smooth(0.3)
		frameworktest.TestProblem(t, name, p, frameworktest.ProblemOptions{Point: x, Seed: 5})
		rounded, err := p.Evaluate(nil, x)
		require.NoError(t, err)
		assert.Less(t, rounded, plain, name)
		p.Smooth(0)
		again, err := p.Evaluate(nil, x)
		require.NoError(t, err)
		assert.Equal(t, plain, again, name)
	}
}

func TestSmoothingScale(t *testing.T) {
	scale := func(loss framework.Loss, D, d int) float64 {
		x := Data{N: 5, D: D, X: make([]float64, 5*D)}
		for i := range x.X {
			x.X[i] = float64(i % (D + 1)) // 0 where entries do not count
		}
		p, err := NewProblem(context.Background(), x, loss, d, 0, 1)
		require.NoError(t, err)
		at := framework.NewPoint(p.Blocks()) // Q = 0 makes residuals of -x
		got, err := p.SmoothingScale(at)
		require.NoError(t, err)
		return got
	}
	assert.InDelta(t, 2, scale(losses.L1(), 3, 1), 0, "the median of 1, 2, 3")
	assert.InDelta(t, math.Sqrt(10), scale(losses.L2(), 3, 1), 1e-15, "the median norm")
	assert.Zero(t, scale(losses.L2(), 6, 1), "l2 in many normal directions keeps clear of its kink")
	assert.Zero(t, scale(losses.SquaredL2(), 3, 1))
	assert.Zero(t, scale(named(t, "lp 3", 3), 3, 1))
}

// sphereCap returns noisy points of a cap of the unit sphere.
func sphereCap(n int) Data {
	rng := rand.New(rand.NewPCG(1, 2))
	x := Data{N: n, D: 3, X: make([]float64, 3*n)}
	for i := range n {
		a, b := 0.6*rng.NormFloat64(), 0.6*rng.NormFloat64()
		at := [3]float64{math.Sin(a) * math.Cos(b), math.Sin(b), math.Cos(a) * math.Cos(b)}
		for j, v := range at {
			x.X[3*i+j] = v + 0.06*rng.NormFloat64()
		}
	}
	return x
}

// Where descent by plain subgradients stalls, rounding the kinks goes on, with
// fewer passes.
func TestContinuationBeatsSubgradients(t *testing.T) {
	for _, c := range []struct {
		name string
		gain float64
	}{{"l1", 0.92}, {"l2", 0.985}, {"lp 1.5", 1}} {
		config := Config{Latent: 2, Loss: named(t, c.name, 3), Ridge: 10, Options: framework.Options{MaxIterations: 400}}
		config.Solver = solvers.RGD{}
		plain := learn(t, sphereCap(30), config).Run
		config.Solver = solvers.Continuation{}
		rounded := learn(t, sphereCap(30), config).Run
		assert.Less(t, rounded.Cost, c.gain*plain.Cost, c.name)
		assert.Less(t, rounded.Counts.Passes, plain.Counts.Passes, c.name)
	}
}

// A fit through kinks is called converged where an approximate subgradient
// vanishes, and only there.
func TestCertificateOfKinks(t *testing.T) {
	x := arc(1, 60, 0.05)
	c := Config{Latent: 1, Loss: named(t, "lp 1.5", 2), Ridge: 10}
	c.Solver = solvers.Continuation{FirstTolerance: 1e-7, LastTolerance: 1e-13}
	fit := learn(t, x, c)
	require.Equal(t, framework.Converged, fit.Run.Status, fit.Run.Message)

	p, err := NewProblem(context.Background(), x, c.Loss, 1, 1, 1)
	require.NoError(t, err)
	p.Smooth(1e-9)
	p.Smooth(0)
	near := fit.Run.Point.Clone()
	near[BlockC][0] += 1e-4
	s := make([]float64, objective.NumBlocks)
	require.NoError(t, p.Stationarity(s, near))
	assert.Greater(t, s[BlockTau], 1e-3)
}

// Rounding over a long length balances every gradient somewhere, but not those
// of the loss: the slack says so, and what counts is the gradients of the loss.
func TestCertificateCountsTheSlack(t *testing.T) {
	p, x := smallProblem(t, losses.L1(), 2, 3, true)
	plain, err := p.Evaluate(nil, x)
	require.NoError(t, err)
	want, s := make([]float64, objective.NumBlocks), make([]float64, objective.NumBlocks)
	require.NoError(t, p.Stationarity(want, x))
	p.Smooth(10)
	rounded, err := p.Evaluate(nil, x)
	require.NoError(t, err)
	p.Smooth(0)
	require.Greater(t, (plain-rounded)/plain, slices.Max(want))
	require.NoError(t, p.Stationarity(s, x))
	assert.Equal(t, want, s)
	after, err := p.Evaluate(nil, x)
	require.NoError(t, err)
	assert.Equal(t, plain, after, "the loss is back in place")
}
