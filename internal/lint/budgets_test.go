package lint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// budgets are the lines that the sources of rooms may have, tests and generated files aside, and the words of
// pages. A number may rise only in a commit whose message says what a user gets for it.
var budgets = []struct {
	room string
	most int
}{
	{"models/scqm", 17882},
	{"models/denoise", 14261},
	{"models/selection", 979},
	{"models/rows", 1963},
	{"models/residuals", 1687},
	{"models/mean", 1053},
	{"solvers", 4956},
	{"framework", 8969},
	{"losses", 3139},
	{"manifolds", 4519},
	{"internal/dense", 7382},
	{"internal/dataset", 5824},
	{"internal/soak", 2484},
	{"cmd", 5242},
	{"bindings", 4751},
	{"plugins", 5359},
	{"python/scqm", 12234},
	{"python/benchmarks", 1405},
	{".", 112689},
}

const (
	mostRecords, mostRecordWords, mostPageWords = 36, 14000, 38500
)

// TestBudgets counts lines of Go, assembly, C and Python, and words of pages.
func TestBudgets(t *testing.T) {
	tree, err := Load(os.DirFS(root(t)))
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	var records, recordWords, pageWords int
	for _, f := range tree.Files {
		switch words := len(strings.Fields(f.Text)); {
		case filepath.Ext(f.Path) == ".md" && strings.HasPrefix(f.Path, "docs/adr/"):
			records++
			recordWords += words
		case filepath.Ext(f.Path) == ".md":
			pageWords += words
		case source(f.Path):
			for _, b := range budgets {
				if b.room == "." || strings.HasPrefix(f.Path, b.room+"/") {
					lines[b.room] += strings.Count(f.Text, "\n")
				}
			}
		}
	}
	for _, b := range budgets {
		if n := lines[b.room]; n > b.most || n == 0 {
			t.Errorf("%s has %d lines; at most %d", b.room, n, b.most)
		}
	}
	for _, c := range []struct {
		what    string
		n, most int
	}{{"records", records, mostRecords}, {"words of records", recordWords, mostRecordWords}, {"words of pages", pageWords, mostPageWords}} {
		if c.n > c.most || c.n == 0 {
			t.Errorf("docs: %d %s; at most %d", c.n, c.what, c.most)
		}
	}
}

// source reports whether a file counts as source that is no test.
func source(path string) bool {
	switch filepath.Ext(path) {
	case ".go", ".s", ".py", ".h", ".c":
	default:
		return false
	}
	for _, out := range []string{"_test.go", ".pb.go"} {
		if strings.HasSuffix(path, out) {
			return false
		}
	}
	return !strings.Contains("/"+path, "/testdata/") && !strings.HasPrefix(path, "python/tests/")
}
