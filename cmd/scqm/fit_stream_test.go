//go:build unix

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/scqm"
)

// Rows for which there is no room are read again and again, and make the model that
// the same solver makes of them in memory.
func TestFitStreamsWhatDoesNotFit(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.npy", bowl(40000, 8))
	text, err := os.Open(p.matrix("data.csv", p.read("data.npy")))
	require.NoError(t, err)
	defer text.Close()
	run := func(args ...string) string {
		program := start(t, text, append([]string{"fit", "-o", p.path("streamed.npz"), "--max-iter", "2", "--progress", "always"}, args...)...)
		code, stderr := program.end(t)
		require.Zero(t, code, stderr)
		assert.Contains(t, stderr, " rows ")
		return program.stdout.String()
	}
	report := succeed(t, "fit", data, "-o", p.path("whole.npz"), "--max-iter", "2", "--solver", "streaming")
	assert.NotContains(t, report, "not in memory", "the model has the coordinates")
	want, err := scqm.Load(p.path("whole.npz"))
	require.NoError(t, err)
	for _, path := range []string{data, "-"} {
		report := run(path, "--memory", "32M")
		assert.Contains(t, report, "not in memory", path)
		got, err := scqm.Load(p.path("streamed.npz"))
		require.NoError(t, err)
		assert.Nil(t, got.Tau)
		assert.Equal(t, [][]float64{want.C, want.U, want.V, want.Theta}, [][]float64{got.C, got.U, got.V, got.Theta}, path)
	}
	assert.Contains(t, run(data, "--memory", "32M", "--loss", "huber", "--json", "-d", "1"), `"reads": `)
}

// The default of a loss does not depend on whether rows fit into memory.
func TestStreamedFitChoosesTheSameDelta(t *testing.T) {
	p := newPlace(t)
	m := bowl(40000, 8)
	data := p.matrix("data.npy", m)
	for _, loss := range []string{"huber", "huber_entries"} {
		want, err := scqm.DefaultDeltaFrom(t.Context(), &scqm.LocalEngine{Source: cli.RowsOf(m)}, scqm.Config{Latent: 1}, loss)
		require.NoError(t, err)
		for _, args := range [][]string{{"--solver", "streaming"}, {"--memory", "32M"}} {
			program := start(t, nil, append([]string{"fit", data, "--loss", loss, "-o", p.path("model.npz"), "--max-iter", "1", "--threads", "1", "-d", "1"}, args...)...)
			code, stderr := program.end(t)
			require.Zero(t, code, stderr)
			got, err := scqm.Load(p.path("model.npz"))
			require.NoError(t, err)
			assert.Equal(t, map[string]float64{"delta": want}, got.Loss.(rowloss.Parametric).Params(), "%s, %v", loss, args)
			assert.Equal(t, args[0] == "--memory", got.Tau == nil, args)
		}
	}
}

// What streams cannot serve is refused with the flag.
func TestFitSaysWhatNeedsMemory(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.npy", bowl(40000, 8))
	for flag, args := range map[string][]string{
		"--solver or --preset": {"--solver", "newton"}, "--loss auto": {"--loss", "auto"},
		"--ridge auto": {"--ridge", "auto"}, "--missing ignore": {"--missing", "ignore", "--loss", "l1"},
	} {
		r := execute(append([]string{"fit", data, "--memory", "1M"}, args...)...)
		assert.Equal(t, cli.ExitFailed, r.code)
		assert.Contains(t, r.stderr, "raise --memory, or leave out "+flag+", for which all rows must be in memory\n")
		assert.Equal(t, 1, strings.Count(r.stderr, "\n"))
	}
}

// A file that grows while it is read gives no model.
func TestFitOfAGrowingFile(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.npy", bowl(120000, 8))
	program := start(t, nil, "fit", data, "-o", p.path("model.npz"), "--memory", "32M", "--progress", "always", "--loss", "l1", "--tol", "1e-300") // minutes
	for bar := ""; !strings.Contains(bar, " rows "); {
		var err error
		bar, err = program.stderr.ReadString('\r')
		require.NoError(t, err)
	}
	f, err := os.OpenFile(data, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.Write(make([]byte, 64))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	code, stderr, _ := program.interrupt(t, os.Interrupt)
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, stderr, "has changed while it was read, from 7680128 bytes to 7680192")
	assert.NoFileExists(t, p.path("model.npz"))
}

// Influences of rows for which there is no room are those found in memory.
func TestInfluenceStreamsWhatDoesNotFit(t *testing.T) {
	p := newPlace(t)
	data, model := p.matrix("data.npy", bowl(60000, 8)), p.path("model.npz")
	succeed(t, "fit", data, "-o", model, "--loss", "huber", "--delta", "0.3", "--no-tau", "--max-iter", "60")
	whole := succeed(t, "influence", model, data, "--top", "4", "-o", p.path("whole.npy"))
	list := succeed(t, "influence", model, data, "--top", "4", "-o", p.path("streamed.npy"), "--memory", "16M")
	assert.Equal(t, strings.ReplaceAll(whole, "whole.npy", ""), strings.ReplaceAll(list, "streamed.npy", ""))
	assert.Equal(t, p.read("whole.npy").Data, p.read("streamed.npy").Data)
	assert.Equal(t, list[:strings.Index(list, "saved to")], succeed(t, "influence", model, data, "--top", "4", "--memory", "16M"))
}
