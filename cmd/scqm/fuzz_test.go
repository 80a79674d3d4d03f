package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/plugins/pluginstest"
)

// payload is what a stranger's file wants to start. It leaves a file behind.
const payload = "#!/bin/sh\ntouch \"$0.ran\" \"%s\"\n"

// FuzzFilesStartNothing gives every command that reads models files of others,
// with payloads beside them, in the working directory and even where plugins
// belong, there with another checksum. What would start a program is a trap.
//
// A file is tried as it is, as a model and as a checkpoint. Another model has
// meta for its description, and a third a plugin with the texts.
func FuzzFilesStartNothing(f *testing.F) {
	s := newStranger(f)
	for _, name := range []string{"x", "../x", "./scqm-loss-x", s.path("scqm-loss-x"), "x\x00", "x\n", "..", "-x", "$(x)", "|x"} {
		f.Add([]byte("PK\x03\x04"), []byte(`{"format": 1}`), name, s.sum, "1.0", "{}")
	}
	good, err := json.Marshal(s.model.Meta)
	require.NoError(f, err)
	f.Add(s.file, good, "x", "any", "", `{"plugin": "x", "path": "/x"}`)
	f.Add(s.checkpoint, []byte(`{"format":1,"D":4,"loss":{"name":"x","plugin":{"name":"x","path":"scqm-loss-x","sha256":"","params":""}}}`),
		"x", "", "1\n2", `{"sha256": "any", "name": "../x", "c": 1e999}`)
	f.Fuzz(func(t *testing.T, file, meta []byte, name, sha256, version, params string) {
		s.write(t, "raw.npz", file)
		s.write(t, "raw.checkpoint", file)
		described := *s.model
		if json.Unmarshal(meta, &described.Meta) == nil {
			s.save(t, "meta.npz", &described)
		}
		named := *s.model
		named.Meta.Loss = scqm.LossMeta{Name: name, Plugin: &rowloss.Program{Name: name, SHA256: sha256, Version: version, Params: params}}
		s.save(t, "named.npz", &named)
		for _, command := range [][]string{
			{"transform", "raw.npz", s.data}, {"project", "meta.npz", s.data}, {"transform", "named.npz", s.data},
			{"influence", "named.npz", s.data}, {"reconstruct", "named.npz", s.data},
			{"fit", s.data, "--checkpoint", "raw.checkpoint", "--resume", "--max-iter", "1"},
		} {
			execute(command...)
		}
		require.Empty(t, s.caught())
		require.NoFileExists(t, s.ran)
	})
}

// stranger is a working directory full of payloads.
type stranger struct {
	dir, data, ran, sum string
	model               *scqm.Model
	file, checkpoint    []byte
	caught              func() []string
}

func (s *stranger) path(name string) string { return filepath.Join(s.dir, name) }

func (s *stranger) write(t testing.TB, name string, content []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(s.path(name), content, 0o600))
}

// save writes a model, sound or not; what cannot be written is not tried.
func (s *stranger) save(t testing.TB, name string, m *scqm.Model) {
	t.Helper()
	var b bytes.Buffer
	if m.Write(&b) == nil {
		s.write(t, name, b.Bytes())
	}
}

func newStranger(f *testing.F) *stranger {
	f.Helper()
	s := &stranger{dir: f.TempDir(), data: "data.csv"}
	s.ran = s.path("ran")
	f.Chdir(s.dir)
	x := bowl(12, 4)
	var text bytes.Buffer
	for i := range x.Rows {
		fmt.Fprintf(&text, "%g,%g,%g,%g\n", x.Data[4*i], x.Data[4*i+1], x.Data[4*i+2], x.Data[4*i+3])
	}
	s.write(f, s.data, text.Bytes())
	r := execute("fit", s.data, "-o", "plain.npz", "--checkpoint", "run.checkpoint", "--max-iter", "2")
	require.Zero(f, r.code, r.stderr)
	var err error
	s.model, err = scqm.Load("plain.npz")
	require.NoError(f, err)
	s.file, err = os.ReadFile("plain.npz")
	require.NoError(f, err)
	s.checkpoint, err = os.ReadFile("run.checkpoint")
	require.NoError(f, err)

	script := fmt.Sprintf(payload, s.ran)
	s.sum = fmt.Sprintf("%x", sha256.Sum256([]byte(script)))
	require.NoError(f, os.Mkdir("plugins", 0o700))
	for name, text := range map[string]string{
		"x": script, "scqm-loss-x": script, "scqm": script, "sh": script, "python3": script,
		"plugins/scqm-loss-x": script + "# another one\n",
	} {
		s.write(f, name, []byte(text))
		require.NoError(f, os.Chmod(s.path(name), 0o700))
	}
	f.Setenv("SCQM_PLUGIN_PATH", s.path("plugins")+":.")
	f.Setenv("PATH", ".:"+s.dir)
	f.Setenv("XDG_DATA_HOME", s.dir)
	s.caught = pluginstest.Trap(f)
	return s
}

// TestTheTrapOfFilesCatches breaks the rule once: a model with the checksum of a
// plugin that is where plugins belong is one that its user may start.
func TestTheTrapOfFilesCatches(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.csv", bowl(12, 4))
	succeed(t, "fit", data, "-o", p.path("m.npz"), "--max-iter", "2")
	m, err := scqm.Load(p.path("m.npz"))
	require.NoError(t, err)
	script := fmt.Sprintf(payload, p.path("ran"))
	p.file("scqm-loss-x", script)
	require.NoError(t, os.Chmod(p.path("scqm-loss-x"), 0o700))
	m.Meta.Loss = scqm.LossMeta{Name: "x", Plugin: &rowloss.Program{
		Name: "x", Version: "1", Params: "{}", SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(script))),
	}}
	require.NoError(t, m.Save(p.path("m.npz")))
	t.Setenv("SCQM_PLUGIN_PATH", p.path("."))
	caught := pluginstest.Trap(t)
	r := execute("transform", p.path("m.npz"), data, "-o", p.path("out.npy"))
	require.Contains(t, r.stderr, pluginstest.ErrTrapped.Error())
	require.Equal(t, []string{p.path("scqm-loss-x")}, caught())
}
