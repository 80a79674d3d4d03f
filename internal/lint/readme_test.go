package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// goBlock matches a fenced Go program in Markdown.
var goBlock = regexp.MustCompile("(?ms)^```go\n(package main\n.*?)^```$")

// TestReadme runs the programs of the README in a module of their own, as a
// reader would.
func TestReadme(t *testing.T) {
	needTools(t)
	root := root(t)
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	programs := goBlock.FindAllStringSubmatch(read("README.md"), -1)
	if len(programs) == 0 {
		t.Fatal("no program found")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"),
		"module example.com/reader\n\ngo 1.26\n\nrequire "+module+" v0.0.0\n\nreplace "+module+" => "+root+"\n")
	write(t, filepath.Join(dir, "go.sum"), read("go.sum"))
	for _, p := range programs {
		write(t, filepath.Join(dir, "main.go"), p[1])
		if out := run(t, dir, "go", "run", "-mod=mod", "main.go"); strings.TrimSpace(out) == "" {
			t.Errorf("no output from a program that begins\n%.300s", p[1])
		}
	}
}

// testNames matches a test that Markdown names.
var testNames = regexp.MustCompile("`(Test[A-Za-z]+)`")

// TestDocsNameTests finds every test that the theory page names.
func TestDocsNameTests(t *testing.T) {
	root := root(t)
	text, err := os.ReadFile(filepath.Join(root, "docs", "theory.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	err = filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(source, -1) {
			tests[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := testNames.FindAllSubmatch(text, -1)
	if len(named) < 20 {
		t.Fatalf("only %d tests are named", len(named))
	}
	for _, m := range named {
		if !tests[string(m[1])] {
			t.Errorf("docs/theory.md names %s, which is nowhere", m[1])
		}
	}
}
