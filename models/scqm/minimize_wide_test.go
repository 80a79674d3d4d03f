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

// Newton's method ends fits under l1 of rows too wide for its matrices, lower than the solver that runs before it and with a
// certificate.
func TestNewtonEndsWideFits(t *testing.T) {
	x := digits(t, 12, "4", "9")
	before := learn(t, x, Config{Latent: 1, Loss: losses.L1()})
	require.Equal(t, framework.Stalled, before.Run.Status)
	after := learn(t, x, Config{Latent: 1, Loss: losses.L1(), Solver: solvers.Continuation{Inner: solvers.Newton{}}})
	require.Equal(t, framework.Converged, after.Run.Status, after.Run.Message)
	assert.Contains(t, after.Run.Solver, "then newton")
	assert.Less(t, after.Run.Cost, before.Run.Cost)
	for _, v := range after.Run.Stationarity {
		assert.LessOrEqual(t, v, 1e-6)
	}
}

// The columns end fits under l1 without weights, and no others.
func TestWideFitIsRefusedUnderOtherLosses(t *testing.T) {
	x := digits(t, 12, "4", "9")
	_, err := Learn(context.Background(), x, Config{Latent: 1, Loss: losses.L2(), Solver: solvers.Newton{}})
	require.ErrorIs(t, err, ErrInput)
	weights := make([]float64, x.N)
	for i := range weights {
		weights[i] = float64(1 + i%2)
	}
	x.Weights = weights
	_, err = Learn(context.Background(), x, Config{Latent: 1, Loss: losses.L1(), Solver: solvers.Newton{}})
	require.ErrorIs(t, err, ErrInput)
}

// A run whose columns were eliminated is named by its residual, and by the time limit where that ended it.
func TestWideEndsAreNamed(t *testing.T) {
	p, x := begin(t, digits(t, 6, "4", "9"), losses.L1(), 1, 1, 1)
	late := framework.Options{TimeLimit: time.Second, Begin: time.Now().Add(-time.Hour)}
	for _, c := range []struct {
		residual float64
		options  framework.Options
		want     framework.Status
		message  string
	}{
		{1e-7, late, framework.Converged, "1e-07 in block Q"},
		{1e-3, late, framework.TimeLimit, "at the time limit of 1s"},
		{1e-3, framework.Options{}, framework.Stalled, "0.001 in block Q, above the tolerance 1e-06"},
	} {
		run := &framework.Result{Status: framework.Stalled, Point: x, Stationarity: []float64{0, c.residual, 0, 0}}
		p.nameEnd(run, c.options, 1e-6)
		assert.Equal(t, c.want, run.Status)
		assert.Contains(t, run.Message, c.message)
	}
}

// later is cancelled when it has been asked so many times.
type later struct {
	context.Context
	left int
}

func (l *later) Err() error {
	if l.left--; l.left < 0 {
		return context.Canceled
	}
	return nil
}

// A run that is cancelled in its columns keeps what they have found, at its cost.
func TestCancelledWideEnds(t *testing.T) {
	p, x := begin(t, digits(t, 6, "4", "9"), losses.L1(), 1, 1, 1)
	cost, err := p.Evaluate(nil, x)
	require.NoError(t, err)
	ctx := &later{context.Background(), 10}
	run := &framework.Result{Status: framework.Stalled, Point: x, Cost: cost, Stationarity: make([]float64, len(p.Blocks()))}
	require.NoError(t, p.endByColumns(ctx, run, framework.Options{}))
	assert.Less(t, run.Cost, cost)
	assert.Equal(t, framework.Stalled, run.Status)
	again, err := p.Evaluate(nil, run.Point)
	require.NoError(t, err)
	assert.InEpsilon(t, run.Cost, again, 1e-12)
}
