package scqm

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
)

// distant is a loss of which every call takes a while.
type distant struct {
	blackBox
	under, most *atomic.Int64
}

func (distant) Callers() int { return 16 }

func (l distant) Evaluate(values, grad, r []float64, dim int) error {
	now := l.under.Add(1)
	defer l.under.Add(-1)
	for most := l.most.Load(); now > most && !l.most.CompareAndSwap(most, now); most = l.most.Load() {
	}
	time.Sleep(10 * time.Microsecond)
	return l.blackBox.Evaluate(values, grad, r, dim)
}

// TestDistantLossesAreCalledFromManyGoroutines learns and projects with such a
// loss: the numbers are those of other losses.
func TestDistantLossesAreCalledFromManyGoroutines(t *testing.T) {
	huber, err := losses.ByName("huber", losses.Params{Delta: new(0.1)})
	require.NoError(t, err)
	near := blackBox{Loss: huber}
	far := distant{near, new(atomic.Int64), new(atomic.Int64)}
	x := bowlRows(t, 300, 5, 3)
	c := Config{Latent: 1, Threads: 1, Options: framework.Options{MaxIterations: 5}}
	var fits [2]*Fit
	var taus [2][]float64
	for i, l := range []framework.Loss{near, far} {
		c.Loss = l
		fits[i], err = Learn(t.Context(), x, c)
		require.NoError(t, err)
		far.most.Store(0)
		taus[i], err = fits[i].Model.Transform(t.Context(), Data{N: 40, D: 5, X: x.X[:200]}, 1)
		require.NoError(t, err)
	}
	assert.Equal(t, fits[0].Model.Meta.Objective, fits[1].Model.Meta.Objective)
	assert.Equal(t, fits[0].Model.Tau, fits[1].Model.Tau)
	assert.Equal(t, taus[0], taus[1])
	assert.Greater(t, far.most.Load(), int64(4), "callers at a time")
}
