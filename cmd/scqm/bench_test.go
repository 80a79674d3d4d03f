package main

import (
	csvfile "encoding/csv"
	"encoding/json"
	"image/png"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/solvers"
)

// tinyBench takes a few seconds.
var tinyBench = []string{"bench", "--quick", "--time-limit", "0.05", "--fits", "2", "--rows", "300"}

func TestBenchJSON(t *testing.T) {
	t.Chdir("../..")
	var report benchReport
	require.NoError(t, json.Unmarshal([]byte(succeed(t, append(tinyBench, "--json", "--loss", "l2")...)), &report))
	assert.Positive(t, report.Machine.Processors)
	require.Len(t, report.Cases, len(regimes))
	for i, c := range report.Cases {
		assert.Equal(t, regimes[i].name, c.Regime)
		assert.Greater(t, c.PCA.Objective, c.Best)
		assert.Positive(t, c.PCA.Seconds)
		require.Len(t, c.Runs, len(solvers.Describe()))
		assert.Equal(t, reference, c.Runs[len(c.Runs)-1].Solver)
		checkRuns(t, c)
	}
	assert.Greater(t, report.Cases[0].Fitter.PerSecond, 10.0)
	checkRoofline(t, report.Roofline)
}

func TestBenchDenoise(t *testing.T) {
	var report benchReport
	require.NoError(t, json.Unmarshal([]byte(succeed(t, "bench", "denoise", "--rows", "200", "--quick", "--json")), &report))
	require.Len(t, report.Denoise, 1)
	r := report.Denoise[0]
	assert.Equal(t, []int{200, 3}, []int{r.N, r.D})
	require.Len(t, r.Methods, len(denoiseMethods()))
	for _, m := range r.Methods {
		for _, v := range m.PerSecond {
			assert.Greater(t, v, 1.0, m.Method)
		}
		assert.Positive(t, m.Rows, m.Method)
		assert.Positive(t, m.Neighbors, m.Method)
	}
	refused := execute("bench", "denoise", "--loss", "l2")
	assert.Equal(t, 2, refused.code)
	assert.Contains(t, refused.stderr, "--loss does nothing with denoise")
}

// checkRuns looks for what cannot be, whatever the machine.
func checkRuns(t *testing.T, c *caseReport) {
	t.Helper()
	least := math.Inf(1)
	for _, r := range c.Runs {
		if r.Note != "" {
			assert.Equal(t, "newton", r.Solver)
			assert.Nil(t, r.Cost)
			continue
		}
		least = math.Min(least, *r.Cost)
		assert.GreaterOrEqual(t, *r.Excess, 0.0)
		assert.Positive(t, r.Seconds)
		ended := 0
		for _, count := range r.Statuses {
			ended += count
		}
		assert.Equal(t, c.Sets, ended)
		for i, g := range r.Gaps {
			assert.Equal(t, benchGaps[i], g.Gap)
			if g.Passes == nil {
				assert.Nil(t, g.PassesFactor)
				continue
			}
			assert.LessOrEqual(t, *g.Passes, r.Passes)
			assert.LessOrEqual(t, *g.Seconds, r.Seconds)
			if r.Solver == reference {
				assert.Equal(t, 1.0, *g.SecondsFactor)
			}
		}
	}
	assert.LessOrEqual(t, c.Best, least)
}

func checkRoofline(t *testing.T, r *rooflineReport) {
	t.Helper()
	require.NotNil(t, r)
	for _, s := range r.Speeds {
		assert.Positive(t, s.Copy)
		assert.Positive(t, s.Gemm)
	}
	require.Len(t, r.Kernels, len(kernels)*len(r.Speeds))
	for _, k := range r.Kernels {
		assert.Equal(t, 300, k.N)
		assert.InEpsilon(t, 8*sheetColumns/k.PerRow, k.Bandwidth, 1e-9)
		assert.Greater(t, k.OverRoofline, 0.01)
	}
}

func TestBenchTableAndCurves(t *testing.T) {
	p := newPlace(t)
	out := succeed(t, append(tinyBench, "r1", "--loss", "l2,squared_l2", "--solver", "newton,lbfgs", "-o", p.path("new"))...)
	for _, solver := range []string{"lbfgs", "newton", reference, "(pca)"} {
		assert.Len(t, linesOf(out, solver), len(regimes[0].losses), solver)
	}
	assert.NotContains(t, out, "alternating")

	f, err := os.Open(p.path("new/bench-r1.png"))
	require.NoError(t, err)
	defer f.Close()
	img, err := png.Decode(f)
	require.NoError(t, err)
	assert.Greater(t, img.Bounds().Dx(), img.Bounds().Dy(), "two panels side by side")

	table, err := os.ReadFile(p.path("new/bench-r1.csv"))
	require.NoError(t, err)
	lines, err := csvfile.NewReader(strings.NewReader(string(table))).ReadAll()
	require.NoError(t, err)
	assert.Equal(t, "regime", lines[0][0])
	kinds := map[string]int{}
	for _, l := range lines[1:] {
		kinds[l[1]+l[4]+l[5]]++ // loss, set, solver
	}
	assert.Len(t, kinds, 2*2*3)
}

// linesOf lists the lines that begin with a solver's name.
func linesOf(text, solver string) []string {
	var list []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, solver+" ") {
			list = append(list, line)
		}
	}
	return list
}

func TestBenchRefuses(t *testing.T) {
	for what, args := range map[string][]string{
		"want r1, r2, r3, all or denoise, got r4": {"r4"},
		"no loss \"l3\" here":                     {"r1", "--loss", "l3"},
		"no solver \"magic\"":                     {"r1", "--solver", "magic"},
		"--rows: 5 rows are too few":              {"r3", "--rows", "5"},
		"is not here; run this in":                {"r2"},
	} {
		r := execute(append([]string{"bench"}, args...)...)
		assert.Equal(t, exitUsage, r.code, what)
		assert.Contains(t, r.stderr, what)
		assert.Equal(t, 1, strings.Count(r.stderr, "\n"), r.stderr)
	}
}

// fake is a run whose cost falls as given, one pass and millisecond a step.
func fake(costs ...float64) *outcome {
	o := &outcome{cost: costs[len(costs)-1], passes: float64(len(costs)), elapsed: time.Duration(len(costs)) * time.Millisecond}
	for i, c := range costs {
		o.history = append(o.history, framework.Record{Cost: c, Passes: float64(i + 1), Elapsed: time.Duration(i+1) * time.Millisecond})
	}
	return o
}

func TestBenchFactors(t *testing.T) {
	fast, slow := fake(9, 1.0001, 1), fake(9, 8, 7, 6, 5, 4, 3, 2, 1.5, 1.002, 1.0009, 1.00001)
	c := &caseReport{Sets: 1, Runs: []*runReport{
		{Solver: "fast", outcomes: []*outcome{fast}}, {Solver: reference, outcomes: []*outcome{slow}},
	}}
	c.evaluate()
	assert.Equal(t, 1.0, c.Best)
	coarse, fine := c.Runs[0].Gaps[0], c.Runs[0].Gaps[1]
	assert.Equal(t, []float64{2, 5.5}, []float64{*coarse.Passes, *coarse.PassesFactor})
	assert.InEpsilon(t, 5.5, *coarse.SecondsFactor, 1e-12)
	assert.False(t, coarse.AtLeast)
	assert.Equal(t, []float64{3, 4}, []float64{*fine.Passes, *fine.PassesFactor}, "12 passes were not enough")
	assert.True(t, fine.AtLeast)
	assert.Nil(t, c.Runs[1].Gaps[1].Passes)
	assert.Equal(t, 12.0, *c.Runs[1].Own[1].Passes)
}

func TestMedian(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ want, a, b, c float64 }{{2, 3, 1, 2}, {2, 2, 1, inf}, {inf, inf, 1, inf}} {
		assert.Equal(t, c.want, median([]float64{c.a, c.b, c.c}))
	}
	assert.Equal(t, 1.5, median([]float64{2, 1}))
	assert.Equal(t, inf, median([]float64{inf, inf}))
}

func TestBenchData(t *testing.T) {
	ball := neighbours(4)
	last := 0.0
	for i := range ball.N {
		far := floats.Distance(ball.Row(i), ball.Row(0), 2)
		assert.GreaterOrEqual(t, far, last)
		assert.InDelta(t, 1, floats.Norm(ball.Row(i), 2), 5*sphereNoise)
		last = far
	}
	assert.Less(t, last, 1.0, "a tenth of the sphere")
	assert.Equal(t, noisySheet(200), noisySheet(200))
}
