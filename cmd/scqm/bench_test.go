package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/bench"
	"github.com/scqm/scqm/solvers"
)

// tinyBench takes a few seconds.
var tinyBench = []string{"bench", "--quick", "--time-limit", "0.05", "--rows", "300"}

func TestBenchJSON(t *testing.T) {
	t.Chdir("../..")
	var report benchReport
	require.NoError(t, json.Unmarshal([]byte(succeed(t, append(tinyBench, "--json", "--loss", "l2")...)), &report))
	assert.Positive(t, report.Machine.Processors)
	require.Len(t, report.Cases, len(bench.Regimes))
	for i, c := range report.Cases {
		assert.Equal(t, bench.Regimes[i].Name, c.Regime)
		assert.Positive(t, c.PCA.Seconds)
		require.Len(t, c.Runs, len(solvers.Describe()))
		assert.Equal(t, bench.Reference, c.Runs[len(c.Runs)-1].Solver)
	}
}

func TestBenchTable(t *testing.T) {
	out := succeed(t, append(tinyBench, "sheet", "--loss", "l2,squared_l2", "--solver", "newton,lbfgs")...)
	for _, solver := range []string{"lbfgs", "newton", bench.Reference, "(pca)"} {
		assert.Len(t, linesOf(out, solver), 2, solver)
	}
	assert.NotContains(t, out, "alternating")
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
		"want digits, sheet or all, got faces": {"faces"},
		"no loss \"l3\" here":                  {"sheet", "--loss", "l3"},
		"no solver \"magic\"":                  {"sheet", "--solver", "magic"},
		"--rows: 5 rows are too few":           {"sheet", "--rows", "5"},
		"is not here; run this in":             {"digits"},
	} {
		r := execute(append([]string{"bench"}, args...)...)
		assert.Equal(t, cli.ExitUsage, r.code, what)
		assert.Contains(t, r.stderr, what)
		assert.Equal(t, 1, strings.Count(r.stderr, "\n"), r.stderr)
	}
}
