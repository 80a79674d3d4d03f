package scqm

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// A stream whose time is over has a model and its verdict all the same.
func TestStreamOutOfTime(t *testing.T) {
	x := bentRows(4, 3*BlockRows, 6)
	for _, loss := range []framework.Loss{losses.L2(), losses.L1()} {
		c := Config{Latent: 2, Loss: loss, Solver: solvers.Streaming{}, Options: framework.Options{TimeLimit: time.Nanosecond}}
		fit, err := Learn(t.Context(), x, c)
		require.NoError(t, err)
		assert.Equal(t, framework.TimeLimit, fit.Run.Status)
		assert.Contains(t, fit.Run.Message, "time limit")
		assert.NotNil(t, fit.Model.Meta.KKT)
		assert.Positive(t, fit.Run.Cost)
		assert.False(t, math.IsInf(fit.Run.Cost, 0))
		assert.Len(t, fit.Model.Tau, 2*x.N)
	}
}

// A read ends between two blocks where its context is done.
func TestReadsEndBetweenBlocks(t *testing.T) {
	x := bentRows(5, 8*BlockRows, 4)
	ctx, cancel := context.WithCancel(context.Background())
	read := 0
	e := &LocalEngine{Source: x, Loss: losses.L2(), Threads: 1, Observe: func(p ReadProgress) {
		if read = p.Rows; read > 2*BlockRows {
			cancel()
		}
	}}
	_, err := LearnFrom(ctx, e, Config{Latent: 1, Loss: losses.L2()})
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 3*BlockRows, read)
}
