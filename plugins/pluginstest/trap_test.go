package pluginstest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/plugins"
)

func TestTrapCatchesStarts(t *testing.T) {
	folder := t.TempDir()
	path, ran := filepath.Join(folder, "plugin"), filepath.Join(folder, "ran")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\ntouch "+ran+"\n"), 0o600))
	require.NoError(t, os.Chmod(path, 0o700))
	t.Run("trap", func(t *testing.T) {
		caught := Trap(t)
		assert.Empty(t, caught())
		_, err := plugins.Open(t.Context(), path, plugins.Options{})
		assert.ErrorContains(t, err, ErrTrapped.Error())
		assert.Equal(t, []string{path}, caught())
		assert.NoFileExists(t, ran)
	})
	_, err := plugins.Open(t.Context(), path, plugins.Options{})
	assert.ErrorIs(t, err, plugins.ErrStart)
	assert.FileExists(t, ran)
}
