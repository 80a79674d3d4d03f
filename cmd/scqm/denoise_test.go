package main

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/denoise"
	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/scqm"
)

// torus returns n rows near the torus of radii 1 and 0.4.
func torus(n int, sigma float64) *dataset.Matrix {
	rng := rand.New(rand.NewPCG(3, 4))
	m := &dataset.Matrix{Cols: 3}
	for m.Rows < n {
		u, v := 2*math.Pi*rng.Float64(), 2*math.Pi*rng.Float64()
		r := 1 + 0.4*math.Cos(v)
		if rng.Float64() > r/1.4 {
			continue // even on the surface
		}
		for _, x := range []float64{r * math.Cos(u), r * math.Sin(u), 0.4 * math.Sin(v)} {
			m.Data = append(m.Data, x+sigma*rng.NormFloat64())
		}
		m.Rows++
	}
	return m
}

// offTorus is the root mean square distance from that torus.
func offTorus(m *dataset.Matrix) float64 {
	var sum float64
	for i := range m.Rows {
		x := m.Row(i)
		e := math.Hypot(math.Hypot(x[0], x[1])-1, x[2]) - 0.4
		sum += e * e
	}
	return math.Sqrt(sum / float64(m.Rows))
}

func TestDenoise(t *testing.T) {
	p := newPlace(t)
	noisy := torus(800, 0.03)
	data := p.matrix("noisy.npy", noisy)
	for method, most := range map[string]float64{"auto": 0.016, "mls": 0.02, "scqm": 0.022} {
		var s denoiseSummary
		args := []string{"denoise", data, "--method", method, "--neighbors", "30", "-o", p.path("clean.npy"), "--json"}
		if method == "scqm" {
			args = append(args, "--loss", "squared_l2")
		}
		require.NoError(t, json.Unmarshal([]byte(succeed(t, args...)), &s))
		assert.Less(t, offTorus(p.read("clean.npy")), most, method)
		assert.Equal(t, method, s.Method)
		assert.Equal(t, []int{800, 3, 2, 800}, []int{s.N, s.D, s.Latent, s.Rows})
		assert.InDelta(t, 0.03, s.Noise, 0.006, method)
		assert.Equal(t, "converged", s.Status)
	}
	require.InDelta(t, 0.03, offTorus(noisy), 0.003)
}

func TestDenoiseIsTheLibrary(t *testing.T) {
	p := newPlace(t)
	x, y := torus(200, 0.05), torus(30, 0.05)
	data, queries := p.matrix("x.npy", x), p.matrix("y.npy", y)
	weights := p.file("w.csv", strings.Repeat("1\n2\n", 100))
	succeed(t, "denoise", data, "--queries", queries, "--weights", weights, "--method", "mls", "--neighbors", "25", "--degree", "1", "--average", "3", "-o", p.path("c.npy"))
	rows := cli.RowsOf(x)
	for range 100 {
		rows.Weights = append(rows.Weights, 1, 2)
	}
	d, err := denoise.Fit(context.Background(), classic.MLS{Latent: 2, Neighbors: 25, Degree: 1}, rows, denoise.Options{})
	require.NoError(t, err)
	want, err := d.Denoise(context.Background(), scqm.Data{N: y.Rows, D: 3, X: y.Data}, denoise.Options{Average: 3})
	require.NoError(t, err)
	assert.Equal(t, want.X, p.read("c.npy").Data)
}

func TestDenoiseReport(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("x.csv", torus(100, 0.05))
	succeed(t, "denoise", data, "--method", "scqm", "--loss", "squared_l2", "--report", "-o", p.path("c.csv"))
	m := p.read("c.csv")
	require.Equal(t, []string{"x1", "x2", "x3", "residual", "noise", "neighbors", "ridge", "extrapolated", "unchanged", "error", "outlier_score"}, m.Names)
	assert.Equal(t, []float64{30, 10}, m.Row(0)[5:7])
	assert.Positive(t, m.Row(0)[3])
	assert.Equal(t, succeed(t, "denoise", data, "--method", "scqm", "--loss", "squared_l2", "--report"), p.text("c.csv"), "and on standard output")
}

// text reads a file.
func (p place) text(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(p.path(name))
	require.NoError(p.t, err)
	return string(b)
}

func TestDenoisePointClouds(t *testing.T) {
	p := newPlace(t)
	m := torus(60, 0.05)
	var text strings.Builder
	for i := range m.Rows {
		text.WriteString(strings.TrimSuffix(csv(&dataset.Matrix{Rows: 1, Cols: 3, Data: m.Row(i)}), "\n") + ",tree\n")
	}
	scan := p.file("scan.xyz", text.String())
	succeed(t, "denoise", scan, "--method", "lpca", "-o", p.path("clean.xyz"))
	assert.Equal(t, 60, strings.Count(p.text("clean.xyz"), ",tree\n"))
	succeed(t, "denoise", scan, "--method", "lpca", "-o", p.path("clean.ply"))
	succeed(t, "denoise", scan, "--method", "lpca", "-o", p.path("clean.npy"))
	cloud, err := dataset.ReadPointCloud(p.path("clean.ply"), false)
	require.NoError(t, err)
	assert.Equal(t, p.read("clean.npy").Data, cloud.Points.Data)
}

func TestDenoiseRefuses(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("x.npy", torus(100, 0.05))
	flat := p.matrix("flat.npy", &dataset.Matrix{Rows: 2, Cols: 2, Data: []float64{1, 2, 3, 4}})
	for want, args := range map[string][]string{
		`invalid argument "best" for "--method" flag: want one of auto, scqm,`: {data, "--method", "best"},
		"--ridge does nothing with the method lpca; leave it out":              {data, "--method", "lpca", "--ridge", "1"},
		"--loss does nothing with the method mls; leave it out":                {data, "--method", "mls", "--loss", "l2"},
		"auto has Tukey's loss or squared_l2, not l1":                          {data, "--loss", "l1"},
		"kernels of fixed width have no neighbours to choose":                  {data, "--method", "kde", "--neighbors", "auto"},
		"--json: the rows go to standard output already":                       {data, "--json"},
		"rows of 2 columns do not fit":                                         {data, "--queries", flat},
		"want one column with a weight for each of 100 rows":                   {data, "--weights", flat},
		"a point cloud has three columns":                                      {flat, "--method", "lpca", "-d", "1", "-o", p.path("x.ply")},
		"--columns does nothing with a point cloud":                            {p.file("a.xyz", "1 2 3\n"), "--columns", "1"},
	} {
		r := execute(append([]string{"denoise"}, args...)...)
		assert.Equal(t, 2, r.code, want)
		assert.Contains(t, r.stderr, want)
		assert.Equal(t, 1, strings.Count(r.stderr, "\n"), r.stderr)
	}
}

// TestDenoiseFewRows: rows that are too few for a method stay, with a note.
func TestDenoiseFewRows(t *testing.T) {
	p := newPlace(t)
	few := p.matrix("few.npy", torus(9, 0.05))
	for name, args := range map[string][]string{"9 rows": {}, "no direction": {"-d", "3"}} {
		var s denoiseSummary
		out := succeed(t, append([]string{"denoise", few, "-o", p.path("out.npy"), "--json"}, args...)...)
		require.NoError(t, json.Unmarshal([]byte(out), &s))
		assert.Contains(t, s.Note, name)
		assert.Equal(t, []any{"auto", 9, 9}, []any{s.Method, s.Unchanged, s.Extrapolated})
		assert.Equal(t, p.read("few.npy").Data, p.read("out.npy").Data)
	}
	r := execute("denoise", few, "-d", "4", "-o", p.path("out.npy"))
	assert.Equal(t, 2, r.code, "four dimensions of three columns")
}

// TestDenoiseChooses: neighbours and Huber's delta come from the rows, and the
// summary says what they are, and what sharing costs.
func TestDenoiseChooses(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("x.npy", torus(300, 0.05))
	var s denoiseSummary
	out := succeed(t, "denoise", data, "--method", "linear", "--loss", "huber", "--neighbors", "auto", "--share", "0.3", "-o", p.path("a.npy"), "--json")
	require.NoError(t, json.Unmarshal([]byte(out), &s))
	assert.Equal(t, "huber", s.Loss)
	assert.InDelta(t, 1.345*0.05, s.LossParams["delta"], 0.04)
	assert.NotEqual(t, 30, s.Neighbors)
	assert.Positive(t, *s.ShareError)
	assert.Less(t, *s.ShareError, s.Residual)
	delta, k := strconv.FormatFloat(s.LossParams["delta"], 'g', -1, 64), strconv.Itoa(s.Neighbors)
	out = succeed(t, "denoise", data, "--method", "linear", "--loss", "huber", "--delta", delta, "--neighbors", k, "--share", "0.3", "-o", p.path("b.npy"))
	assert.Equal(t, p.read("a.npy").Data, p.read("b.npy").Data)
	assert.Contains(t, out, "huber, delta = 0.0")
	assert.Contains(t, out, "from where charts of their own take rows")
}

func TestDenoiseInterrupted(t *testing.T) {
	p := newPlace(t)
	x := torus(3000, 0.05)
	data := p.matrix("x.npy", x)
	args := []string{"denoise", data, "--method", "qmf", "-o", p.path("c.npy"), "--progress", "never"}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(300*time.Millisecond, cancel)
	r := executeWith(ctx, "", args...)
	require.Equal(t, 130, r.code, r.stderr)
	assert.Equal(t, "scqm: denoise: interrupted\n", r.stderr)
	assert.NotContains(t, p.names(), "c.npy")
}

func TestMethods(t *testing.T) {
	var list []methodEntry
	require.NoError(t, json.Unmarshal([]byte(succeed(t, "methods", "--json")), &list))
	assert.Equal(t, methodAuto, list[0].Name)
	assert.Len(t, list, len(denoise.Describe()))
	for _, e := range list {
		assert.Contains(t, succeed(t, "methods"), e.Name+" ")
	}
}
