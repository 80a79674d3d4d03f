package main

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/scqm"
)

// wide is a table of three blocks, with a model of it.
func wide(t *testing.T, p place, loss string) (x *dataset.Matrix, data, model string) {
	t.Helper()
	const D = 1 << 12
	x = bowl(2*blockNumbers/D+7, D)
	x.Names = nil
	data, model = p.matrix("data.npy", x), p.path("model.npz")
	part := &dataset.Matrix{Rows: 20, Cols: D, Data: x.Data[:20*D]}
	succeed(t, "fit", p.matrix("part.npy", part), "-o", model, "-d", "1", "--loss", loss, "--max-iter", "3")
	return x, data, model
}

// Whatever the format, the rows that come out are those of the whole table at once.
func TestBlocksMakeTheWholeTable(t *testing.T) {
	p := newPlace(t)
	x, data, model := wide(t, p, "l2")
	m, err := scqm.Load(model)
	require.NoError(t, err)
	whole := cli.RowsOf(x)
	tau, err := m.Transform(t.Context(), whole, 1)
	require.NoError(t, err)
	found, err := m.ProjectAll(t.Context(), whole, 1)
	require.NoError(t, err)
	columns, err := projectionColumns(found)
	require.NoError(t, err)
	projected := &dataset.Matrix{Rows: x.Rows, Cols: x.Cols, Data: found.X}
	report, err := cli.Beside(projected, columns)
	require.NoError(t, err)

	codes := &dataset.Matrix{Rows: x.Rows, Cols: 1, Data: tau}
	coordinates := p.matrix("tau.npy", codes)
	for name, c := range map[string]struct {
		want *dataset.Matrix
		args []string
	}{
		"tau.csv":    {codes, []string{"transform", model, data}},
		"x.npz":      {projected, []string{"project", model, data}},
		"report.npy": {report, []string{"project", model, data, "--report", "--threads", "1"}},
		"x.npy":      {projected, []string{"reconstruct", model, coordinates}},
	} {
		succeed(t, append(c.args, "-o", p.path(name))...)
		got, err := os.ReadFile(p.path(name))
		require.NoError(t, err)
		want, err := os.ReadFile(p.matrix("want."+name, c.want))
		require.NoError(t, err)
		assert.True(t, bytes.Equal(want, got), name)
	}
	var text bytes.Buffer
	require.NoError(t, dataset.Write("-", codes, &text))
	assert.Equal(t, text.String(), succeed(t, "transform", model, data))
	shown := execute("transform", model, p.matrix("data.npz", x), "--progress", "always")
	assert.Equal(t, text.String(), shown.stdout)
	assert.Contains(t, shown.stderr, " 71 rows")
}

// A row of the last block that is refused leaves nothing, on standard output
// neither, and is called by its number in the table.
func TestRefusedRowsLeaveNothing(t *testing.T) {
	p := newPlace(t)
	x, _, model := wide(t, p, "squared_l2")
	last := x.Data[(x.Rows-1)*x.Cols:]
	for what, spoil := range map[string]func(){
		"row 70, column 5 is NaN": func() { last[5] = math.NaN() },
		"row 70 is too far":       func() { last[5] = 0; last[6] = math.MaxFloat64; last[7] = math.MaxFloat64 },
	} {
		spoil()
		bad := p.matrix("bad.npy", x)
		require.NoError(t, os.WriteFile(p.path("old.npy"), []byte("old"), 0o600))
		r := execute("project", model, bad, "-o", p.path("old.npy"))
		assert.Equal(t, cli.ExitUsage, r.code, r.stderr)
		assert.Contains(t, r.stderr, what)
		left, err := os.ReadFile(p.path("old.npy"))
		require.NoError(t, err)
		assert.Equal(t, "old", string(left))
		assert.NotContains(t, strings.Join(p.names(), " "), "tmp")
		if strings.Contains(what, "NaN") {
			r = execute("transform", model, bad)
			assert.Contains(t, r.stderr, what)
			assert.Empty(t, r.stdout)
		}
	}
}

func TestModelsWithoutCoordinates(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.npy", bowl(60, 5))
	succeed(t, "fit", data, "-o", p.path("with.npz"), "--loss", "l1", "--max-iter", "50")
	succeed(t, "fit", data, "-o", p.path("without.npz"), "--loss", "l1", "--max-iter", "50", "--no-tau")
	with, err := scqm.Load(p.path("with.npz"))
	require.NoError(t, err)
	without, err := scqm.Load(p.path("without.npz"))
	require.NoError(t, err)
	assert.Nil(t, without.Tau)
	with.Tau, with.Loss, without.Loss = nil, nil, nil // functions are never equal
	assert.Equal(t, with, without)
	succeed(t, "project", p.path("without.npz"), data)
	r := execute("fit", data, "--no-tau")
	assert.Equal(t, cli.ExitUsage, r.code)
	assert.Contains(t, r.stderr, "--no-tau does nothing without -o")
}
