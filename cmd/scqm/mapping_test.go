package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
)

func TestProjectIsReconstructOfTransform(t *testing.T) {
	p := newPlace(t)
	data, model := p.matrix("data.npy", bowl(60, 5)), p.path("model.npz")
	for _, loss := range []string{"l2", "l1"} {
		t.Run(loss, func(t *testing.T) {
			succeed(t, "fit", data, "-o", model, "--loss", loss, "--max-iter", "50")
			succeed(t, "transform", model, data, "-o", p.path("tau.npy"))
			succeed(t, "reconstruct", model, p.path("tau.npy"), "-o", p.path("rows.npz"))
			succeed(t, "project", model, data, "-o", p.path("projected.csv"), "--threads", "1")

			tau, rows, projected := p.read("tau.npy"), p.read("rows.npz"), p.read("projected.csv")
			assert.Equal(t, []int{60, 2}, []int{tau.Rows, tau.Cols})
			assert.Equal(t, []int{60, 5}, []int{projected.Rows, projected.Cols})
			assert.InDeltaSlice(t, projected.Data, rows.Data, 1e-10)
		})
	}
}

func TestProjectReport(t *testing.T) {
	p := newPlace(t)
	x := bowl(60, 4)
	data, model := p.matrix("data.csv", x), p.path("model.npz")
	for loss, names := range map[string][]string{
		"l2": {"x1", "x2", "x3", "x4", "residual", "min_eigenvalue", "certified", "parts", "second"},
		"l1": {"x1", "x2", "x3", "x4", "residual", "min_eigenvalue", "parts", "second"},
	} {
		succeed(t, "fit", data, "-o", model, "--loss", loss, "--max-iter", "50")
		succeed(t, "project", model, data, "-o", p.path("plain.csv"))
		succeed(t, "project", model, data, "-o", p.path("report.csv"), "--report")
		plain, report := p.read("plain.csv"), p.read("report.csv")
		require.Equal(t, names, report.Names)
		for i := range report.Rows {
			assert.Equal(t, plain.Row(i), report.Row(i)[:4])
			assert.InDelta(t, floats.Distance(plain.Row(i), x.Row(i), 2), report.Row(i)[4], 1e-9)
		}
	}
}

func TestMappingsWriteCSVByDefault(t *testing.T) {
	p := newPlace(t)
	m := bowl(50, 4)
	m.Names = []string{"a", "b", "c", "d"}
	data, model := p.matrix("data.csv", m), p.path("model.npz")
	succeed(t, "fit", data, "-o", model)

	p.file("tau.csv", succeed(t, "transform", model, data))
	p.file("projected.csv", succeed(t, "project", model, data))
	assert.Equal(t, 50, p.read("tau.csv").Rows)
	assert.Equal(t, m.Names, p.read("projected.csv").Names)

	piped := executeWith(t.Context(), succeed(t, "transform", model, data), "reconstruct", model, "-")
	require.Zero(t, piped.code, piped.stderr)
	p.file("piped.csv", piped.stdout)
	assert.Equal(t, p.read("projected.csv").Data, p.read("piped.csv").Data)
}

func TestMappingsSelectRows(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.npy", bowl(6, 3))
	labels := p.file("labels.txt", "x\ny\nx\ny\nx\nx\n")
	succeed(t, "fit", data, "-o", p.path("model.npz"), "-d", "1", "--max-iter", "5")
	all := succeed(t, "transform", p.path("model.npz"), data, "-o", p.path("all.npy"))
	succeed(t, "transform", p.path("model.npz"), data, "-o", p.path("some.npy"), "--labels", labels, "--keep", "x", "--first", "3")

	assert.Empty(t, all)
	everything, some := p.read("all.npy"), p.read("some.npy")
	assert.Equal(t, []float64{everything.Data[0], everything.Data[2], everything.Data[4]}, some.Data)
}

func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full")
	}
	defer full.Close()
	p := newPlace(t)
	data, model := p.matrix("data.npy", bowl(30, 4)), p.path("model.npz")
	succeed(t, "fit", data, "-o", model)
	require.NoError(t, os.Symlink("/dev/full", p.path("full.csv")))

	var stderr writerToString
	code := run(t.Context(), []string{"transform", model, data}, nil, full, &stderr)
	assert.Equal(t, cli.ExitFailed, code)
	assert.Equal(t, "scqm: transform: standard output: no space left on device\n", string(stderr))

	for _, args := range [][]string{
		{"fit", data, "-o", linkToFullDisk(p)},
		{"transform", model, data, "-o", p.path("full.csv")},
	} {
		r := execute(args...)
		assert.Equal(t, cli.ExitFailed, r.code)
		assert.Contains(t, r.stderr, "scqm: "+args[0]+": "+args[len(args)-1]+": no space left on device\n")
		assert.Empty(t, r.stdout)
	}
	assert.ElementsMatch(t, []string{"data.npy", "model.npz", "full.csv", "full.npz"}, p.names())
}

type writerToString string

func (w *writerToString) Write(b []byte) (int, error) {
	*w += writerToString(b)
	return len(b), nil
}

// linkToFullDisk returns the name of a model file that cannot be written.
func linkToFullDisk(p place) string {
	p.t.Helper()
	require.NoError(p.t, os.Symlink("/dev/full", p.path("full.npz")))
	return p.path("full.npz")
}
