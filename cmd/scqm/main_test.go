package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/dataset"
)

// asProgram in the environment makes the test binary the program itself.
const asProgram = "SCQM_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	code := m.Run()
	for _, folder := range builtFolders.paths {
		os.RemoveAll(folder)
	}
	os.Exit(code)
}

// builtFolders hold programs that tests have built for each other, until TestMain ends.
var builtFolders struct {
	sync.Mutex
	paths []string
}

// newBuiltFolder makes one.
func newBuiltFolder() (string, error) {
	folder, err := os.MkdirTemp("", "scqm-test-")
	if err == nil {
		builtFolders.Lock()
		defer builtFolders.Unlock()
		builtFolders.paths = append(builtFolders.paths, folder)
	}
	return folder, err
}

// result is what a command left behind.
type result struct {
	code           int
	stdout, stderr string
}

// execute runs a command line in this process.
func execute(args ...string) result { return executeWith(context.Background(), "", args...) }

func executeWith(ctx context.Context, stdin string, args ...string) result {
	var stdout, stderr bytes.Buffer
	code := run(ctx, args, strings.NewReader(stdin), &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// succeed runs a command line that must not fail and returns its output.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	r := execute(args...)
	require.Zero(t, r.code, r.stderr)
	require.Empty(t, withoutWarnings(r.stderr))
	return r.stdout
}

// warning is a line on what is wrong with a fit that was made.
var warning = regexp.MustCompile(`(?m)^scqm: fit: warning: .*\n`)

// withoutWarnings is what else stands on stderr.
func withoutWarnings(stderr string) string { return warning.ReplaceAllString(stderr, "") }

// place is a directory with data files for tests.
type place struct {
	t   *testing.T
	dir string
}

func newPlace(t *testing.T) place { return place{t, t.TempDir()} }

func (p place) path(name string) string { return filepath.Join(p.dir, name) }

// file writes a file and returns its path.
func (p place) file(name, text string) string {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(p.path(name), []byte(text), 0o600))
	return p.path(name)
}

// matrix writes a table and returns its path.
func (p place) matrix(name string, m *dataset.Matrix) string {
	p.t.Helper()
	require.NoError(p.t, dataset.Write(p.path(name), m, nil))
	return p.path(name)
}

// read reads a table.
func (p place) read(name string) *dataset.Matrix {
	p.t.Helper()
	m, err := dataset.Read(p.path(name), dataset.ReadOptions{})
	require.NoError(p.t, err)
	return m
}

// names lists the files that are there.
func (p place) names() []string {
	p.t.Helper()
	entries, err := os.ReadDir(p.dir)
	require.NoError(p.t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// bowl returns n noisy rows near a paraboloid in D dimensions.
func bowl(n, D int) *dataset.Matrix {
	rng := rand.New(rand.NewPCG(1, 2))
	m := &dataset.Matrix{Rows: n, Cols: D, Data: make([]float64, n*D)}
	for i := range n {
		a, b := 2*rng.Float64()-1, 2*rng.Float64()-1
		for j := range D {
			angle := float64(j)
			m.Data[i*D+j] = a*math.Cos(angle) + b*math.Sin(angle) +
				(a*a+b*b)*math.Cos(2*angle) + 0.05*rng.NormFloat64()
		}
	}
	return m
}

// csv renders numbers as CSV text.
func csv(m *dataset.Matrix) string {
	var text strings.Builder
	for i := range m.Rows {
		text.WriteString(strings.Trim(strings.ReplaceAll(fmt.Sprint(m.Row(i)), " ", ","), "[]") + "\n")
	}
	return text.String()
}
