package bindings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/plugins"
	"github.com/scqm/scqm/plugins/pluginstest"
)

// FuzzLoadStartsNothing loads models of others as scqm.load does. One that names
// a plugin is used, as transform does it, with a plugin of another checksum.
func FuzzLoadStartsNothing(f *testing.F) {
	caught := pluginstest.Trap(f)
	dir := f.TempDir()
	path, plugin := filepath.Join(dir, "m.npz"), filepath.Join(dir, "scqm-loss-x")
	require.NoError(f, os.WriteFile(plugin, []byte("#!/bin/sh\n"), 0o600))
	require.NoError(f, os.Chmod(plugin, 0o700))
	model := &scqm.Model{D: 2, Latent: 1, C: []float64{0, 0}, U: []float64{1, 0}}
	model.Meta = scqm.Meta{Format: scqm.FormatVersion, D: 2, Latent: 1}
	f.Add([]byte{}, "x", "x", strings.Repeat("0", 64), "{}")
	f.Add([]byte("PK\x03\x04"), "../x", "../x", strings.Repeat("0", 64), `{"plugin": "/x"}`)
	f.Fuzz(func(t *testing.T, file []byte, loss, name, sha256, params string) {
		require.NoError(t, os.WriteFile(path, file, 0o600))
		loadAndTransform(t, path, plugin)
		named := *model
		named.Meta.Loss = scqm.LossMeta{Name: loss, Plugin: &rowloss.Program{Name: name, SHA256: sha256, Params: params}}
		require.NoError(t, named.Save(path))
		loadAndTransform(t, path, plugin)
		require.Empty(t, caught())
	})
}

// loadAndTransform does what Python does with a file.
func loadAndTransform(t *testing.T, path, plugin string) {
	number := newNumber()
	defer release(t, number)
	settings, err := encode(map[string]string{"path": path})
	require.NoError(t, err)
	_, err = Start(number, "load", settings, "{}")
	require.NoError(t, err)
	if await(t, number) != nil {
		return
	}
	var r scqm.Meta
	made(t, number, &r)
	p := r.Loss.Plugin
	if p == nil {
		return
	}
	require.True(t, plugins.IsName(p.Name), p.Name)
	choice, err := encode(lossChoice{Name: p.Name, Plugin: plugin, SHA256: p.SHA256, Learned: true})
	require.NoError(t, err)
	residuals := pinned[float64](t, columns)
	with := newNumber()
	defer release(t, with)
	_, err = Start(with, "loss", choice, rowsAt(t, residuals))
	require.NoError(t, err)
	require.ErrorContains(t, await(t, with), "learned with another file of its plugin")
}
