package scqm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/drill"
)

func fitted(t testing.TB, loss string) *Model {
	t.Helper()
	x := Data{N: 20, D: 4, X: gaussians(1, 80)}
	c := Config{Latent: 2, Curvature: 2, Loss: named(t, loss, 4), Options: framework.Options{MaxIterations: 5}}
	return learn(t, x, c).Model
}

func TestFileRoundTrip(t *testing.T) {
	x := Data{N: 3, D: 4, X: gaussians(2, 12)}
	for _, name := range allLosses {
		m := fitted(t, name)
		path := filepath.Join(t.TempDir(), "m.npz")
		require.NoError(t, m.Save(path))
		got, err := Load(path)
		require.NoError(t, err)
		assert.Equal(t, m.Meta, got.Meta)
		assert.Equal(t, [][]float64{m.C, m.U, m.V, m.Theta, m.Tau}, [][]float64{got.C, got.U, got.V, got.Theta, got.Tau})
		want, err := m.Transform(context.Background(), x, 1)
		require.NoError(t, err)
		tau, err := got.Transform(context.Background(), x, 1)
		require.NoError(t, err)
		assert.Equal(t, want, tau, name)
	}
}

func TestFileWithoutCurvatureOrLatents(t *testing.T) {
	m := randomModel(1, 3, 3, 0, 1, named(t, "l2", 3))
	m.Meta.Loss = describeLoss(m.Loss)
	path := filepath.Join(t.TempDir(), "m.npz")
	require.NoError(t, m.Save(path))
	got, err := Load(path)
	require.NoError(t, err)
	assert.Zero(t, got.Curvature)
	assert.Nil(t, got.Tau)
}

// written returns a model file whose entries can be replaced or left out (nil).
func written(t testing.TB, change func(arrays map[string]*dataset.Array, meta map[string]any)) []byte {
	t.Helper()
	m := fitted(t, "l2")
	arrays := map[string]*dataset.Array{
		"c":     {Shape: []int{4}, Data: m.C},
		"U":     {Shape: []int{4, 2}, Data: m.U},
		"V":     {Shape: []int{4, 2}, Data: m.V},
		"Theta": {Shape: []int{3, 2}, Data: m.Theta},
		"tau":   {Shape: []int{20, 2}, Data: m.Tau},
	}
	b, err := json.Marshal(m.Meta)
	require.NoError(t, err)
	var meta map[string]any
	require.NoError(t, json.Unmarshal(b, &meta))
	change(arrays, meta)
	var buf bytes.Buffer
	z := dataset.NewSealedNPZWriter(&buf)
	for _, name := range []string{"c", "U", "V", "Theta", "tau"} {
		if a := arrays[name]; a != nil {
			require.NoError(t, z.Array(name, *a))
		}
	}
	if meta != nil {
		b, err := json.Marshal(meta)
		require.NoError(t, err)
		require.NoError(t, z.Raw(metaName, b))
	}
	require.NoError(t, z.Close())
	return buf.Bytes()
}

func TestFileRefusals(t *testing.T) {
	type arrays = map[string]*dataset.Array
	for reason, change := range map[string]func(a arrays, meta map[string]any){
		"format 99": func(_ arrays, meta map[string]any) { meta["format"] = 99 },
		"format 0":  func(_ arrays, meta map[string]any) { delete(meta, "format") },
		"meta.json": func(_ arrays, meta map[string]any) { meta["n"] = "many" },
		`"c"`:       func(a arrays, _ map[string]any) { a["c"] = nil },
		"do not fit": func(a arrays, _ map[string]any) {
			a["Theta"] = &dataset.Array{Shape: []int{2, 2}, Data: make([]float64, 4)}
		},
		"dimensions":      func(a arrays, _ map[string]any) { a["U"].Shape = []int{8} },
		"not orthonormal": func(a arrays, _ map[string]any) { a["U"].Data[0] += 0.1 },
		"tau":             func(a arrays, _ map[string]any) { a["tau"].Shape = []int{10, 4} },
		"D is 5":          func(_ arrays, meta map[string]any) { meta["D"] = 5 },
		"d is 1":          func(_ arrays, meta map[string]any) { meta["d"] = 1 },
		"s is 1":          func(_ arrays, meta map[string]any) { meta["s"] = 1 },
		"n is 21":         func(_ arrays, meta map[string]any) { meta["n"] = 21 },
		"n is -1":         func(a arrays, meta map[string]any) { a["tau"], meta["n"] = nil, -1 },
		"effective is 3":  func(_ arrays, meta map[string]any) { meta["s_effective"] = 3 },
		"effective is -1": func(_ arrays, meta map[string]any) { meta["s_effective"] = -1 },
		"lp needs p":      func(_ arrays, meta map[string]any) { meta["loss"] = map[string]any{"name": "lp"} },
	} {
		b := written(t, change)
		_, err := Read(bytes.NewReader(b), int64(len(b)))
		require.ErrorIs(t, err, ErrInput, reason)
		assert.ErrorContains(t, err, reason)
	}
	good := written(t, func(arrays, map[string]any) {})
	_, err := Read(bytes.NewReader(good), int64(len(good)))
	require.NoError(t, err)
	for size := range good {
		_, err := Read(bytes.NewReader(good[:size]), int64(size))
		require.ErrorIs(t, err, ErrInput, "cut at %d", size)
	}
	_, err = Load(filepath.Join(t.TempDir(), "none.npz"))
	require.ErrorIs(t, err, ErrInput)
}

// A file names a plugin by what a loss can be called, and nothing that it says
// leads to a program.
func TestPluginsOfFiles(t *testing.T) {
	sum := strings.Repeat("a1", 32)
	plugin := func(name, sha256, version, params string) []byte {
		return written(t, func(_ map[string]*dataset.Array, meta map[string]any) {
			meta["loss"] = map[string]any{"name": name, "plugin": map[string]any{
				"name": name, "version": version, "sha256": sha256, "params": params, "path": "/tmp/evil",
			}}
		})
	}
	for _, name := range []string{
		"", "../x", "/tmp/evil", "./x", "x/y", "X", "1x", "x-y", "x\x00", "x\n", "x y", "..", "$(x)", "x;y", "é", strings.Repeat("x", 65),
	} {
		b := plugin(name, sum, "1", "{}")
		_, err := Read(bytes.NewReader(b), int64(len(b)))
		require.ErrorIs(t, err, ErrInput, name)
		assert.ErrorContains(t, err, "meta.json: the plugin of the loss is called", name)
		assert.NotContains(t, err.Error(), "\n")
		assert.NotContains(t, err.Error(), "\x00")
	}
	for says, b := range map[string][]byte{
		`"any" is no SHA-256`:           plugin("x", "any", "1", "{}"),
		`"" is no SHA-256`:              plugin("x", "", "1", "{}"),
		"version of the plugin x":       plugin("x", sum, "1\x1b[2J", "{}"),
		"are not a JSON object":         plugin("x", sum, "1", "[]"),
		"plugin x are not a JSON objec": plugin("x", sum, "1", "null"),
		"plugin x take more than":       plugin("x", sum, "1", `{"a": "`+strings.Repeat("x", 1<<20)+`"}`),
		"no number, truth value or tex": plugin("x", sum, "1", `{"a": {"b": 1}}`),
		`hold one called "../a"`:        plugin("x", sum, "1", `{"../a": 1}`),
		`the loss "l2" is of a plugin`: written(t, func(_ map[string]*dataset.Array, meta map[string]any) {
			meta["loss"] = map[string]any{"name": "l2", "plugin": map[string]any{"name": "x", "sha256": sum, "params": "{}"}}
		}),
	} {
		_, err := Read(bytes.NewReader(b), int64(len(b)))
		require.ErrorIs(t, err, ErrInput, says)
		assert.ErrorContains(t, err, says)
	}
	b := plugin("x", sum, "1", `{"a": 1, "b": true, "c": "text"}`)
	m, err := Read(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	assert.Nil(t, m.Loss)
}

func TestUnknownLossCanStillReconstruct(t *testing.T) {
	b := written(t, func(_ map[string]*dataset.Array, meta map[string]any) {
		meta["loss"] = map[string]any{"name": "somebody's"}
	})
	m, err := Read(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	_, err = m.Reconstruct(context.Background(), m.Tau, 1)
	require.NoError(t, err)
	_, err = m.Transform(context.Background(), Data{N: 1, D: 4, X: make([]float64, 4)}, 1)
	assert.ErrorContains(t, err, "somebody's")
}

func TestSaveKeepsTheOldFileWhenItFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	m := fitted(t, "l2")
	require.NoError(t, m.Save(path))
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	m.U[0] += 1
	require.ErrorIs(t, m.Save(path), ErrInput)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, before, after)
}

// Nothing but what was written is read, whatever else the file may say.
func TestNoBitOfAModelMayChange(t *testing.T) {
	good := smallModel(t)
	for bit := range 8 * len(good) {
		require.NoError(t, refusedModel(flipped(good, bit)), "bit %d", bit)
	}
}

func TestDrillFlippedBitsOfModels(t *testing.T) {
	good := smallModel(t)
	path := filepath.Join(t.TempDir(), "m.npz")
	drill.Run(t, "flipped bits of models", 64, func(c drill.Case) error {
		if err := os.WriteFile(path, flipped(good, c.IntN(8*len(good))), 0o600); err != nil {
			return err
		}
		_, err := Load(path)
		return refusal(err)
	})
}

func TestModelsEndWhereTheyEnd(t *testing.T) {
	good := smallModel(t)
	for _, tail := range [][]byte{{0}, []byte("\n"), make([]byte, 4096), good} {
		require.NoError(t, refusedModel(append(bytes.Clone(good), tail...)))
		require.NoError(t, refusedModel(append(bytes.Clone(tail), good...)))
	}
}

// A model without seal, as NumPy would write it, is refused.
func TestModelsOfOtherProgramsAreRefused(t *testing.T) {
	var buf bytes.Buffer
	z := dataset.NewNPZWriter(&buf)
	require.NoError(t, z.Raw(metaName, []byte("{}")))
	require.NoError(t, z.Close())
	_, err := Read(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	require.NoError(t, refusal(err))
	require.ErrorContains(t, err, "written or changed by another program")
	require.ErrorContains(t, err, "let scqm write it")

	buf.Reset()
	z = dataset.NewNPZWriter(&buf)
	require.NoError(t, z.Array("c", dataset.Array{Shape: []int{1}, Data: []float64{1}}))
	require.NoError(t, z.Close())
	_, err = Read(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	require.ErrorContains(t, err, "has no meta.json and so is no SCQM model")
}

// smallModel is the file of a model with every array there is.
func smallModel(t testing.TB) []byte {
	t.Helper()
	var buf bytes.Buffer
	require.NoError(t, fitted(t, "mahalanobis").Write(&buf))
	_, err := Read(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	require.NoError(t, err)
	return buf.Bytes()
}

func flipped(b []byte, bit int) []byte {
	b = bytes.Clone(b)
	b[bit/8] ^= 1 << (bit % 8)
	return b
}

func refusedModel(b []byte) error {
	_, err := Read(bytes.NewReader(b), int64(len(b)))
	return refusal(err)
}

// refusal wants the sentence about a damaged file.
func refusal(err error) error {
	switch {
	case err == nil:
		return errors.New("accepted")
	case !errors.Is(err, ErrInput):
		return fmt.Errorf("no refusal: %w", err)
	case !regexp.MustCompile(`bytes|end of|cut short`).MatchString(err.Error()) || !strings.Contains(err.Error(), "again"):
		return fmt.Errorf("no place or no remedy: %w", err)
	}
	return nil
}

// resealed gives a file that has been changed the SHA-256 that belongs to it.
func resealed(b []byte) []byte {
	const digits = 2 * sha256.Size
	if len(b) < digits {
		return b
	}
	b = bytes.Clone(b)
	body := b[:len(b)-digits]
	return hex.AppendEncode(body, sha(body))
}

func sha(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:]
}

// What is accepted is usable and writes the same model again. Behind a seal that
// fits anything may stand.
func FuzzModelFile(f *testing.F) {
	f.Add(written(f, func(map[string]*dataset.Array, map[string]any) {}))
	f.Add(written(f, func(a map[string]*dataset.Array, meta map[string]any) {
		a["tau"] = nil
		meta["loss"] = map[string]any{"name": "huber", "params": map[string]any{"delta": 2}}
	}))
	f.Add([]byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, b []byte) {
		b = resealed(b)
		m, err := Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			require.ErrorIs(t, err, ErrInput)
			return
		}
		require.NoError(t, m.Validate())
		var buf bytes.Buffer
		require.NoError(t, m.Write(&buf))
		again, err := Read(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
		require.NoError(t, err)
		require.Equal(t, m.Theta, again.Theta)
		require.Equal(t, m.describe(), again.Meta)
	})
}
