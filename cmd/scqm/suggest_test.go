package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/models/selection"
)

// What suggest recommends, prints and saves is what the library says.
func TestSuggest(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.csv", bowl(100, 6))
	args := []string{"suggest", data, "--max-latent", "2", "--folds", "4", "--seed", "3", "-o", p.path("table.csv")}
	out := succeed(t, args...)
	assert.Contains(t, out, "d = 2, s = 1")
	assert.Contains(t, out, "\nfit with: -d 2 -s 1 --ridge 0.0")

	var s selection.Suggestion
	require.NoError(t, json.Unmarshal([]byte(succeed(t, append(args, "--json")...)), &s))
	assert.Contains(t, out, s.Reason)
	table := p.read("table.csv")
	require.Equal(t, len(s.Trials), table.Rows)
	for k, trial := range s.Trials {
		row := table.Row(k)
		assert.Equal(t, []float64{float64(trial.Latent), float64(trial.Curvature), trial.Predicted}, row[:3])
		assert.Equal(t, k == s.Best, row[len(row)-1] == 1)
	}

	shown := execute("suggest", data, "--max-latent", "1", "--max-rows", "40", "--progress", "always")
	assert.Zero(t, shown.code)
	assert.Contains(t, shown.stderr, "100.00%")
}

func TestSuggestRefusals(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.csv", bowl(9, 3))
	for want, args := range map[string][]string{
		"scqm: suggest: -o: " + p.path("t.png") + ": cannot tell the format; the name must end in .csv, .tsv, .npy, .npz\n": {data, "-o", p.path("t.png")},
		"scqm: suggest: 9 distinct rows in 3 parts; want 10 rows or more, in 2 parts or more of 2 rows or more\n":           {data, "-o", p.path("t.csv")},
	} {
		r := execute(append([]string{"suggest"}, args...)...)
		assert.Equal(t, result{cli.ExitUsage, "", want}, r)
	}
	assert.Equal(t, []string{"data.csv"}, p.names())
}
