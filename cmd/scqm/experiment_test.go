package main

import (
	"bytes"
	"encoding/json"
	"image/png"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
)

// TestExperiments runs every experiment, small, and compares its table with a
// golden file; other processors round differently.
func TestExperiments(t *testing.T) {
	t.Chdir("../..")
	for _, c := range []struct {
		name     string
		args     []string
		pictures []string
		command  [2]string // what the command in params.json says before and after --reps
	}{
		{"toy", nil, []string{"toy-long"}, [2]string{}},
		{"sphere", []string{"--sigma", "0.06"}, []string{"sphere", "sphere-points"}, [2]string{"", " --sigma=0.060000"}},
		{"mnist", nil, []string{"mnist"}, [2]string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			out := succeed(t, append([]string{"experiment", c.name, "-o", p.path("new"), "--quick", "--reps", "1"}, c.args...)...)
			table, err := os.ReadFile(p.path("new/" + c.name + ".md"))
			require.NoError(t, err)
			assert.Contains(t, out, string(table))
			csv, err := os.ReadFile(p.path("new/" + c.name + ".csv"))
			require.NoError(t, err)
			if runtime.GOARCH == "amd64" {
				t.Chdir("cmd/scqm")
				golden(t, "experiment-"+c.name+".csv", string(csv))
			}
			for _, name := range c.pictures {
				f, err := os.ReadFile(p.path("new/" + name + ".png"))
				require.NoError(t, err)
				size, err := png.DecodeConfig(bytes.NewReader(f)) // all of it takes long
				require.NoError(t, err, name)
				assert.Greater(t, min(size.Width, size.Height), 300)
				assert.Greater(t, len(f), 10000, "an empty sheet is shorter")
			}
			var params experimentParams
			text, err := os.ReadFile(p.path("new/params.json"))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &params))
			assert.Equal(t, c.name, params.Experiment)
			assert.Equal(t, "scqm experiment "+c.name+" -o DIR --quick=true"+c.command[0]+" --reps=1"+c.command[1], params.Command)
			assert.Equal(t, 1.0, params.Settings.(map[string]any)["reps"])
		})
	}
}

func TestExperimentRefusals(t *testing.T) {
	p := newPlace(t)
	file := p.file("file", "x")
	for _, c := range []struct{ args, want string }{
		{"toy", "scqm: experiment: no place for the results; name a directory with -o\n"},
		{"torus -o %", "scqm: experiment: no experiment \"torus\"; there are toy, sphere, mnist\n"},
		{"toy -o % --sigma 0.1", "scqm: experiment: --sigma does nothing with the experiment toy; leave it out\n"},
		{"toy -o % --images x", "scqm: experiment: --images does nothing with the experiment toy; leave it out\n"},
		{"sphere -o % --sigma 0", "scqm: experiment: --sigma 0: want numbers above 0, up to 1\n"},
		{"toy -o " + file, "scqm: experiment: -o: mkdir " + file + ": not a directory\n"},
	} {
		r := execute(append([]string{"experiment"}, strings.Fields(strings.ReplaceAll(c.args, "%", p.path("out")))...)...)
		assert.Equal(t, cli.ExitUsage, r.code, c.args)
		assert.Equal(t, c.want, r.stderr)
		assert.NoDirExists(t, p.path("out"))
	}
}
