package scqm

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
)

func TestCheckpointFile(t *testing.T) {
	x := Data{N: 20, D: 4, X: gaussians(1, 80)}
	path := filepath.Join(t.TempDir(), "run.ckpt")
	fit := func(iterations int, stored bool) []byte {
		f, err := OpenCheckpoint(path)
		require.NoError(t, err)
		defer func() { require.NoError(t, f.Close()) }()
		assert.Equal(t, stored, f.Stored())
		_, err = OpenCheckpoint(path)
		require.ErrorIs(t, err, ErrLocked)
		require.ErrorIs(t, err, ErrInput)
		o := framework.Options{MaxIterations: iterations, Checkpoint: f.Checkpoint(-1)}
		var file bytes.Buffer
		require.NoError(t, learn(t, x, Config{Latent: 2, Curvature: 2, Loss: named(t, "l1", 4), Options: o}).Model.Write(&file))
		return file.Bytes()
	}
	fit(3, false)
	resumed := fit(6, true)
	require.NoError(t, os.Remove(path))
	assert.Equal(t, fit(6, false), resumed)

	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	_, err := OpenCheckpoint(path)
	require.ErrorIs(t, err, ErrInput)
	assert.ErrorContains(t, err, "is a directory")
}
