package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/models/denoise"
	"github.com/scqm/scqm/models/denoise/classic"
)

// Rows are denoised in tiles to the bytes of all rows in memory, whatever the tiles and halos.
func TestDenoiseInTiles(t *testing.T) {
	p := newPlace(t)
	t.Setenv("TMPDIR", p.path("tmp"))
	require.NoError(t, os.Mkdir(p.path("tmp"), 0o755))
	m := bowl(200, 3)
	copy(m.Row(130), m.Row(20)) // equal rows are one
	data := p.matrix("data.npy", m)
	queries := p.matrix("queries.npy", m.Only([]int{190, 3, 130}))
	methods := [][]string{
		{"--method", "lpca"}, {"--method", "sph", "--queries", queries}, {"--method", "mls", "--average", "3"},
		{"--method", "scqm", "--loss", "huber"}, {"--method", "auto"},
	}
	tiles := [][]string{{"--tile-rows", "60"}, {"--tile-rows", "110", "--halo", "0.05"}}
	whole := map[int][]byte{}
	drill.Run(t, "files in tiles", 3, func(c drill.Case) error {
		k := c.Index % len(methods)
		args := append([]string{"denoise", data, "--neighbors", "12"}, methods[k]...)
		if whole[k] == nil {
			succeed(t, append(args, "-o", p.path("whole.npy"))...)
			var err error
			if whole[k], err = os.ReadFile(p.path("whole.npy")); err != nil {
				return err
			}
		}
		report := succeed(t, append(append(args, tiles[c.Index%len(tiles)]...), "-o", p.path("tiled.npy"))...)
		assert.Contains(t, report, "tiles ", args)
		got, err := os.ReadFile(p.path("tiled.npy"))
		if err != nil {
			return err
		}
		if !bytes.Equal(whole[k], got) {
			return fmt.Errorf("%v: other bytes in tiles", args)
		}
		return nil
	})
	left, err := os.ReadDir(p.path("tmp"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// Rows of many columns have the bytes of all rows in memory at the defaults, and the same note.
func TestWideRowsInTiles(t *testing.T) {
	p := newPlace(t)
	rng := rand.New(rand.NewPCG(6, 7))
	m := &dataset.Matrix{Rows: 160, Cols: 10, Data: make([]float64, 1600)}
	for i := range m.Data {
		if m.Data[i] = rng.NormFloat64(); i%10 < 4 {
			m.Data[i] *= 5
		}
	}
	data := p.matrix("data.npy", m)
	note := func(report string) string {
		_, after, found := strings.Cut(report, "note ")
		assert.True(t, found, report)
		line, _, _ := strings.Cut(after, "\n")
		return line
	}
	whole := succeed(t, "denoise", data, "-o", p.path("whole.npy"))
	tiled := succeed(t, "denoise", data, "--tile-rows", "60", "-o", p.path("tiled.npy"))
	assert.Equal(t, note(whole), note(tiled))
	assert.Contains(t, tiled, "method    pca, d = 2")
	assert.Equal(t, p.read("whole.npy").Data, p.read("tiled.npy").Data)
}

// Where there is no room for all rows the work goes on in tiles, as large as there is room for.
func TestDenoiseTilesWhatDoesNotFit(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.npy", bowl(12_000, 3))
	args := []string{"denoise", data, "--method", "lpca", "--neighbors", "8", "--threads", "1", "--json", "-o"}
	run := func(args ...string) string {
		program := start(t, nil, args...)
		code, stderr := program.end(t)
		require.Zero(t, code, stderr)
		return program.stdout.String()
	}
	assert.NotContains(t, run(append(args, p.path("whole.npy"))...), `"tiles"`)
	assert.Contains(t, run(append(args, p.path("tiled.npy"), "--memory", "4M")...), `"tiles"`)
	assert.Equal(t, p.read("whole.npy").Data, p.read("tiled.npy").Data)

	for _, tiles := range [][]string{nil, {"--tile-rows", "9000"}} { // of auto not even the smallest ones fit
		refused := start(t, nil, append([]string{"denoise", data, "--threads", "1", "--memory", "4M", "-o", p.path("none.npy")}, tiles...)...)
		code, stderr := refused.end(t)
		assert.NotZero(t, code)
		assert.Contains(t, stderr, "denoise in tiles: ")
		assert.Contains(t, stderr, "take smaller tiles")
		assert.NoFileExists(t, p.path("none.npy"))
	}
}

// The memory that tiles are chosen by grows with them and with what is known around them.
func TestHeldTask(t *testing.T) {
	memory.SetCeiling(64<<20, "a ceiling")
	defer memory.SetCeiling(0, "")
	method := classic.LPCA{Latent: 2, Neighbors: 8}
	flags := tileFlags{}
	small, held, err := flags.reserve(method, 10_000_000, 3, denoise.Options{Threads: 1})
	require.NoError(t, err)
	assert.GreaterOrEqual(t, small, leastTileRows)
	assert.LessOrEqual(t, small, defaultTileRows)
	assert.Positive(t, memory.Reserved())
	require.NoError(t, held.take(small, float64(small)), "room for it is held")
	require.ErrorIs(t, held.take(small, 10_000_000), memory.ErrTooLarge, "a halo of all rows")
	held.Release()
	assert.Zero(t, memory.Reserved())
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

// Medians are of every so many rows by their numbers, in whatever order tiles come.
func TestMediansDoNotDependOnOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	list := make([]denoise.Row, 2*medianRows+1)
	for i := range list {
		list[i] = denoise.Row{Done: true, Residual: rng.Float64(), Noise: rng.Float64(), Neighbors: rng.IntN(900)}
	}
	var whole, tiled denoiseSummary
	m := newMedians(len(list))
	for i, row := range list {
		m.add(&whole, i, row)
	}
	assert.Len(t, m.residual, (len(list)+2)/3)
	m.end(&whole)
	m = newMedians(len(list))
	for _, i := range rng.Perm(len(list)) {
		m.add(&tiled, i, list[i])
	}
	m.end(&tiled)
	assert.Equal(t, whole, tiled)
	assert.Equal(t, len(list), tiled.Done)
}
