package scqm

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// storing is a checkpoint that adds all that a run stores, at every chance, to a list.
func storing(to *[][]byte) *framework.Checkpoint {
	return &framework.Checkpoint{Every: -1, Store: func(write func(io.Writer) error) error {
		var b bytes.Buffer
		err := write(&b)
		*to = append(*to, b.Bytes())
		return err
	}}
}

// resuming is a checkpoint from which a run goes on.
func resuming(stored []byte) *framework.Checkpoint {
	return &framework.Checkpoint{Stored: bytes.NewReader(stored)}
}

// A fit goes on from wherever it was stored to the same model, counts included,
// with every solver, also where a loss is rounded less and less.
func TestFitsGoOnFromEveryIteration(t *testing.T) {
	x := arc(1, 40, 0.1)
	for _, s := range solvers.Describe() {
		for _, loss := range []framework.Loss{losses.L1(), losses.L2(), losses.SquaredL2()} {
			if solver, err := solvers.ByName(s.Name); assert.NoError(t, err) && !serves(solver, loss) {
				continue
			}
			const iterations = 24
			var stored [][]byte
			fit := func(checkpoint *framework.Checkpoint) Meta {
				solver, err := solvers.ByName(s.Name)
				require.NoError(t, err)
				return learn(t, x, Config{Latent: 1, Loss: loss, Solver: solver, Options: framework.Options{
					MaxIterations: iterations, Tolerance: 1e-12, Checkpoint: checkpoint,
				}}).Model.Meta
			}
			want := fit(storing(&stored))
			if s.Name != "streaming" { // whose sample is all of these rows
				assert.NotEmpty(t, stored)
			}
			for k, b := range stored {
				got := fit(resuming(b))
				require.Equal(t, want, got, "%s, %s, store %d of %d", s.Name, loss.Name(), k, len(stored))
			}
		}
	}
}

// The multipliers of the polish certify this fit, whose last iterations minimise the cost itself. A run that resumes
// in these iterations ends with the same verdict.
func TestMultipliersAreStoredAfterThePolish(t *testing.T) {
	x := Data{N: 4, D: 5, X: []float64{0, 1094, 0, 3.7, 0, 3, 0, 0, 3.7, 3, 0, 0, 0, 3.7, 0, 1, 0, 2, 3.7, 1}}
	loss, err := losses.Lp(1.25)
	require.NoError(t, err)
	var stored [][]byte
	fit := func(checkpoint *framework.Checkpoint) Meta {
		return learn(t, x, Config{Latent: 2, Curvature: 3, Loss: loss, Ridge: 0.001, Threads: 1, Options: framework.Options{Checkpoint: checkpoint}}).Model.Meta
	}
	want := fit(storing(&stored))
	require.Equal(t, framework.Converged.String(), want.Status)
	for k, b := range stored[max(0, len(stored)-10):] {
		require.Equal(t, want, fit(resuming(b)), "store %d of the last 10", k)
	}
}
