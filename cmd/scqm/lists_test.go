package main

import (
	"encoding/json"
	"flag"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/cmd/scqm/internal/options"
	"github.com/scqm/scqm/internal/licences"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/solvers"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with a file in testdata, or rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func TestLosses(t *testing.T) {
	golden(t, "losses.txt", succeed(t, "losses"))
	golden(t, "losses.json", succeed(t, "losses", "--json"))
}

func TestSolvers(t *testing.T) {
	var list []solverEntry
	require.NoError(t, json.Unmarshal([]byte(succeed(t, "solvers", "--json")), &list))
	assert.Equal(t, options.SolverAuto, list[0].Name)
	assert.Len(t, list, 1+len(solvers.Describe()))
	for _, s := range list {
		assert.Contains(t, succeed(t, "solvers"), s.Name+" ")
	}
}

func TestVersion(t *testing.T) {
	var v versionReport
	require.NoError(t, json.Unmarshal([]byte(succeed(t, "version", "--json")), &v))
	assert.Equal(t, scqm.Version, v.Version)
	assert.Equal(t, runtime.Version(), v.Go)
	assert.Equal(t, runtime.GOOS+"/"+runtime.GOARCH, v.Platform)
	assert.Contains(t, succeed(t, "version"), scqm.Version)

	v.Revision, v.Modified = "1234", true
	assert.Contains(t, v.rows(), []string{"revision", "1234, modified"})
}

// The program lists what it is linked from. This program, a test, has no list of
// its modules but itself and the standard library.
func TestLicences(t *testing.T) {
	out := succeed(t, "version", "--licences")
	for _, want := range []string{"github.com/scqm/scqm", "BSD-3-Clause", "The SCQM authors", runtime.Version(), "The Go Authors"} {
		assert.Contains(t, out, want)
	}
	var modules []licences.Module
	require.NoError(t, json.Unmarshal([]byte(succeed(t, "version", "--licences", "--json")), &modules))
	require.NotEmpty(t, modules)
	assert.Equal(t, scqm.Version, modules[0].Version)
}
