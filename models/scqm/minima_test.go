package scqm

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// Fits that stall without the finish converge with it, no higher: sums of powers by
// primal-dual steps and steps on the cost itself. They do not depend
// on the number of threads, and go on from wherever they were stored.
func TestFitsWithGradientsFinish(t *testing.T) {
	lp, err := losses.Lp(1.5)
	require.NoError(t, err)
	rng := func(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 3)) }
	for _, c := range []struct {
		name  string
		x     Data
		d     int
		loss  framework.Loss
		inner framework.Solver
		alone string // the status without the finish
	}{
		{"powers", noisyParaboloid(rng(5), 3, 2, 50), 2, lp, solvers.Newton{}, "stalled"},
		{"powers, first order", noisyParaboloid(rng(12), 5, 1, 40), 1, lp, solvers.LBFGS{}, "stalled"},
	} {
		fit := func(finish bool, threads int, checkpoint *framework.Checkpoint) Meta {
			return learn(t, c.x, Config{Latent: c.d, Curvature: FullCurvature, Loss: c.loss, Solver: solvers.Continuation{Inner: c.inner, Finish: finish}, Threads: threads,
				Options: framework.Options{Checkpoint: checkpoint}}).Model.Meta
		}
		without := fit(false, 1, nil)
		assert.Equal(t, c.alone, without.Status, c.name)
		var stored [][]byte
		want := fit(true, 1, storing(&stored))
		assert.Equal(t, "converged", want.Status, c.name)
		assert.LessOrEqual(t, want.Objective+want.Penalty, (without.Objective+without.Penalty)*(1+1e-12), c.name)
		assert.Equal(t, want, fit(true, 2, nil), c.name)
		for k := len(stored) - 1; k >= 0; k -= max(1, len(stored)/12) {
			require.Equal(t, want, fit(true, 1, resuming(stored[k])), "%s: store %d of %d", c.name, k, len(stored))
		}
		t.Logf("%s: %d iterations, %d without", c.name, want.Iterations, without.Iterations)
	}
}

// Rows go over again and again after all stages of this fit, which comes to an end all the same, stored or not.
func TestFitEndsWhereRowsGoOver(t *testing.T) {
	s, err := newMinimaCase(minimaCell{"lp", false, 20, 200}, drill.Stream(81, "lp200 20 false", 0))
	require.NoError(t, err)
	var stored bytes.Buffer
	iterations := 0
	s.c.Options.Checkpoint = &framework.Checkpoint{Every: -1, Store: func(write func(io.Writer) error) error {
		if iterations++; iterations != 60 {
			return nil
		}
		return write(&stored)
	}}
	want := learn(t, s.x, s.c).Model.Meta
	assert.Equal(t, "converged", want.Status)
	assert.Less(t, want.Iterations, 5000)
	s.c.Threads = 2
	s.c.Options.Checkpoint = &framework.Checkpoint{Stored: &stored}
	assert.Equal(t, want, learn(t, s.x, s.c).Model.Meta)
}
