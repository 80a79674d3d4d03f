package residuals_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/models/residuals"
)

// TestStoredRuns: a run that is stopped after any of its iterations and goes on has the
// bits of one that was not, its certificate among them, which rests on multipliers.
func TestStoredRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	turns := points(manifolds.NewRotations(3), 5, rng)
	graph, start := measure(t, turns.X, 12, 0.2, rng)
	sphere := manifolds.Sphere(3)
	exact := points(sphere, 15, rng)
	for i := range 8 {
		copy(exact.Row(i), exact.Row(0))
	}
	median, err := residuals.NewDistances(sphere, exact)
	require.NoError(t, err)
	for name, f := range map[string]struct {
		residuals.Function
		start framework.Point
		loss  framework.Loss
	}{
		"graph, l2":  {graph, start, losses.L2()},
		"graph, l1":  {graph, start, losses.L1()},
		"median, l2": {median, framework.Point{near(t, sphere, exact.Row(0), 0.5, rng)}, losses.L2()},
		"median, l1": {median, framework.Point{near(t, sphere, exact.Row(0), 0.5, rng)}, losses.L1()},
	} {
		run := func(c *framework.Checkpoint) *framework.Result {
			r, err := residuals.Fit(context.Background(), f.Function, f.start, residuals.Config{Loss: f.loss, Threads: 1,
				Options: framework.Options{Checkpoint: c}})
			require.NoError(t, err)
			return r.Run
		}
		var stored [][]byte
		whole := run(&framework.Checkpoint{Every: -1, Store: func(write func(io.Writer) error) error {
			var b bytes.Buffer
			defer func() { stored = append(stored, b.Bytes()) }()
			return write(&b)
		}})
		require.Greater(t, len(stored), 5, name)
		for k, s := range stored {
			if !drill.Whole() && k%20 > 0 && k < len(stored)-3 {
				continue
			}
			rest := run(&framework.Checkpoint{Stored: bytes.NewReader(s)})
			same := assert.Equal(t, whole.Status, rest.Status) && assert.Equal(t, whole.Point, rest.Point) &&
				assert.Equal(t, whole.Cost, rest.Cost) && assert.Equal(t, whole.Stationarity, rest.Stationarity) &&
				assert.Equal(t, whole.Iterations, rest.Iterations) && assert.Equal(t, whole.Counts, rest.Counts)
			assert.True(t, same, "%s, stopped after %d of %d", name, k, len(stored))
		}
	}
}
