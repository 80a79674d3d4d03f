package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/licences"
)

// build makes the program of testdata, in a given way.
func build(t *testing.T, goos, goarch string, flags ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	command := exec.Command("go", append(append([]string{"build", "-buildvcs=false"}, flags...), "-o", file, "./testdata/program")...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	return file
}

// Of a program as it is to be, the check says what it is; others are refused.
func TestCheck(t *testing.T) {
	line, err := check(build(t, "linux", "amd64", "-trimpath", "-ldflags=-s -w"))
	require.NoError(t, err)
	assert.Contains(t, line, "linux/amd64")
	_, err = check(build(t, "linux", "amd64", "-trimpath"))
	require.ErrorIs(t, err, errProgram)
	assert.ErrorContains(t, err, "symbols")
	_, err = check("main.go")
	require.Error(t, err)
}

// The bill names the standard library and the modules with licences and hashes,
// and nothing of the moment.
func TestBill(t *testing.T) {
	file := build(t, "linux", "amd64", "-trimpath", "-ldflags=-s -w")
	var first, second bytes.Buffer
	require.NoError(t, writeBill(&first, []string{file}, "86400"))
	require.NoError(t, writeBill(&second, []string{file, file}, "86400"))
	assert.Equal(t, first.String(), second.String())

	var b bill
	require.NoError(t, json.Unmarshal(first.Bytes(), &b))
	assert.Equal(t, "1970-01-02T00:00:00Z", b.Metadata.Timestamp)
	names := map[string]component{}
	for _, c := range b.Components {
		names[c.Name] = c
		assert.NotEmpty(t, c.Licences[0].Expression, c.Name)
		assert.Contains(t, b.Dependencies[0].DependsOn, c.Ref)
	}
	assert.Contains(t, names, "std")
	assert.Len(t, names["gonum.org/v1/gonum"].Hashes[0].Content, 64)

	require.Error(t, writeBill(&first, []string{file}, "today"))
	require.Error(t, run(&first, []string{"sbom"}))
}

// What goes into the wheel along with the library has no module whose licence does
// not.
func TestBillOfWheelKnowsItsLicences(t *testing.T) {
	_, _, err := readFile(build(t, "linux", "amd64", "-trimpath"), true)
	require.NoError(t, err)
	err = onlyExtension([]licences.Module{{Path: licences.Self}, {Path: "github.com/spf13/cobra"}})
	require.ErrorIs(t, err, licences.ErrUnknown)
	assert.ErrorContains(t, err, "github.com/spf13/cobra")
}
