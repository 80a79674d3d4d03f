package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/dataset"
)

// Rows are denoised in tiles to the bytes of all rows in memory, whatever the tiles and halos.
func TestDenoiseInTiles(t *testing.T) {
	p := newPlace(t)
	t.Setenv("TMPDIR", p.path("tmp"))
	require.NoError(t, os.Mkdir(p.path("tmp"), 0o755))
	m := bowl(450, 3)
	copy(m.Row(300), m.Row(20)) // equal rows are one
	data := p.matrix("data.npy", m)
	queries := p.matrix("queries.npy", m.Only([]int{440, 3, 300}))
	for _, c := range [][]string{
		{"--method", "lpca"}, {"--method", "mls", "--average", "3"}, {"--method", "scqm", "--loss", "huber"},
		{"--method", "auto"}, {"--method", "sph", "--queries", queries},
	} {
		args := append([]string{"denoise", data}, c...)
		succeed(t, append(args, "-o", p.path("whole.npy"))...)
		want, err := os.ReadFile(p.path("whole.npy"))
		require.NoError(t, err)
		for _, tiles := range [][]string{{"--tile-rows", "120"}, {"--tile-rows", "240", "--halo", "0.05"}} {
			report := succeed(t, append(append(args, tiles...), "-o", p.path("tiled.npy"))...)
			assert.Contains(t, report, "tiles ", c)
			got, err := os.ReadFile(p.path("tiled.npy"))
			require.NoError(t, err)
			assert.Equal(t, want, got, "%v %v", c, tiles)
		}
	}
	left, err := os.ReadDir(p.path("tmp"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// Where there is no room for all rows the work goes on in tiles.
func TestDenoiseTilesWhatDoesNotFit(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.npy", bowl(60_000, 3))
	args := []string{"denoise", data, "--method", "lpca", "--neighbors", "8", "--threads", "1", "--json", "-o"}
	run := func(args ...string) string {
		program := start(t, nil, args...)
		code, stderr := program.end(t)
		require.Zero(t, code, stderr)
		return program.stdout.String()
	}
	assert.NotContains(t, run(append(args, p.path("whole.npy"))...), `"tiles"`)
	assert.Contains(t, run(append(args, p.path("tiled.npy"), "--memory", "10M")...), `"tiles"`)
	assert.Equal(t, p.read("whole.npy").Data, p.read("tiled.npy").Data)
}

func TestDenoiseInTilesRefuses(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.npy", bowl(100, 3))
	require.NoError(t, dataset.WritePointCloud(p.path("cloud.xyz"), nil, bowl(100, 3), nil))
	for message, args := range map[string][]string{
		"--halo":                        {"denoise", data, "--halo", "1"},
		"--report":                      {"denoise", data, "--tile-rows", "50", "--report"},
		"which is read as a whole":      {"denoise", p.path("cloud.xyz"), "--tile-rows", "50"},
		"every kernel reaches rows far": {"denoise", data, "--tile-rows", "50", "--method", "kde"},
	} {
		r := execute(append(args, "-o", p.path("out.npy"))...)
		assert.Equal(t, cli.ExitUsage, r.code, message)
		assert.Contains(t, r.stderr, message)
		assert.NoFileExists(t, p.path("out.npy"))
	}
}
