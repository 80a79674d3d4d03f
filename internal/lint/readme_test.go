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
