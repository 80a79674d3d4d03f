package scqm

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/solvers"
)

// lateEngine finds in some reads that their time is over.
type lateEngine struct {
	LocalEngine
	sums int
	late func(k int, r *Request) bool // tells of the k-th read
}

func (e *lateEngine) Sum(ctx context.Context, r *Request) (*Partial, error) {
	e.sums++
	if e.late(e.sums, r) {
		return nil, fmt.Errorf("read %d: %w", e.sums, context.DeadlineExceeded)
	}
	return e.LocalEngine.Sum(ctx, r)
}

// A stream whose time ends inside a read has the best model so far, and says what is known of it.
func TestStreamOutOfTimeInsideReads(t *testing.T) {
	x := bentRows(4, 3*BlockRows, 6)
	for _, loss := range []framework.Loss{losses.L2(), losses.L1()} {
		for name, c := range map[string]struct {
			late   func(k int, r *Request) bool
			judged bool
			says   string
		}{
			"one read":       {func(k int, _ *Request) bool { return k == 9 }, true, "time limit"},
			"all after it":   {func(k int, _ *Request) bool { return k >= 9 }, false, "unknown"},
			"nearest points": {func(k int, r *Request) bool { return k == 9 || r.Kind == blocks.Projected }, true, "time limit"},
		} {
			e := &lateEngine{LocalEngine: LocalEngine{Source: x, Loss: loss, Threads: 1}, late: c.late}
			fit, err := LearnFrom(context.Background(), e, Config{Latent: 2, Linear: true, Loss: loss, Options: framework.Options{TimeLimit: time.Hour}})
			require.NoError(t, err, name)
			assert.Equal(t, framework.TimeLimit, fit.Run.Status, name)
			assert.Contains(t, fit.Run.Message, c.says, name)
			assert.Equal(t, c.judged, fit.Run.Stationarity != nil, name)
			assert.Equal(t, c.judged, fit.Model.Meta.KKT != nil, name)
			if name == "nearest points" && loss.Name() == "l1" {
				assert.Contains(t, fit.Run.Message, "no time to find the nearest points")
			}
			assert.Positive(t, fit.Run.Cost, name)
			tau, err := fit.Model.Transform(context.Background(), x, 1)
			require.NoError(t, err, name)
			assert.Len(t, tau, 2*x.N)
		}
	}
}

// Without a cost at the time limit there is no model, and an error says so.
func TestStreamOutOfTimeBeforeTheFirstCost(t *testing.T) {
	x := bentRows(4, 3*BlockRows, 6)
	for last := 1; last <= 3; last++ {
		e := &lateEngine{LocalEngine: LocalEngine{Source: x, Loss: losses.L1(), Threads: 1}, late: func(k int, _ *Request) bool { return k >= last }}
		_, err := LearnFrom(context.Background(), e, Config{Latent: 2, Loss: losses.L1(), Options: framework.Options{TimeLimit: time.Nanosecond}})
		require.ErrorIs(t, err, context.DeadlineExceeded, last)
		require.ErrorContains(t, err, "time limit of 1ns", last)
	}
	past := framework.Options{TimeLimit: time.Hour, Begin: time.Now().Add(-2 * time.Hour)}
	blocks := 0
	e := &LocalEngine{Source: x, Threads: 1, Observe: func(ReadProgress) { blocks++ }}
	_, err := DefaultDeltaFrom(context.Background(), e, Config{Latent: 2, Options: past}, "huber")
	require.ErrorContains(t, err, "time limit of 1h0m0s")
	assert.LessOrEqual(t, blocks, 1)
}

// Rows in memory that are fitted by reads have no coordinates where the limit leaves no time for them.
func TestStreamOutOfTimeBeforeCoordinates(t *testing.T) {
	x := bentRows(4, 3*BlockRows, 6)
	c := Config{Latent: 2, Loss: losses.L2(), Solver: solvers.Streaming{}, Options: framework.Options{TimeLimit: time.Minute}}
	fit, err := Learn(context.Background(), x, c)
	require.NoError(t, err)
	require.Len(t, fit.Model.Tau, 2*x.N)
	c.Options.TimeLimit = time.Second
	c.Options.Observers = []func(framework.Record){func(framework.Record) { time.Sleep(1600 * time.Millisecond) }}
	fit, err = Learn(context.Background(), x, c)
	require.NoError(t, err)
	assert.Equal(t, framework.TimeLimit, fit.Run.Status)
	require.True(t, fit.Model.Tau == nil)
	assert.Contains(t, fit.Model.Meta.Notes[len(fit.Model.Meta.Notes)-1], "no coordinates")
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
