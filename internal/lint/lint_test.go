package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTree applies every rule to the repository.
func TestTree(t *testing.T) {
	tree, err := Load(os.DirFS(root(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			for _, f := range rule.Check(tree) {
				t.Error(f)
			}
			if t.Failed() {
				t.Logf("why: %s", rule.Why)
			}
		})
	}
}

func TestVet(t *testing.T) {
	needTools(t)
	run(t, root(t), "go", "vet", "./...")
}

func TestStaticcheck(t *testing.T) {
	needTools(t)
	// It reads all dependencies the first time, and spends a third of that on garbage.
	t.Setenv("GOGC", "400")
	run(t, root(t), staticcheck(t), "./...")
}

// TestToolsComplain shows that the two tests above would see a mistake.
func TestToolsComplain(t *testing.T) {
	needTools(t)
	for name, test := range map[string]struct {
		tool   func(t *testing.T) []string
		source string
		want   string
	}{
		"vet": {
			func(*testing.T) []string { return []string{"go", "vet", "./..."} },
			"package p\n\nfunc F(x int) { x = x }\n", "self-assignment",
		},
		"staticcheck": {
			func(t *testing.T) []string { return []string{staticcheck(t), "./..."} },
			"package p\n\nfunc unused() {}\n", "U1000",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "go.mod"), "module example.com/p\n\ngo 1.26\n")
			write(t, filepath.Join(dir, "p.go"), test.source)
			out, err := command(dir, test.tool(t)...).CombinedOutput()
			if err == nil || !strings.Contains(string(out), test.want) {
				t.Errorf("error %v, output %q; want an error and %q", err, out, test.want)
			}
		})
	}
}

// root is the folder of go.mod.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func needTools(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("type-checks the whole module; leave out -short")
	}
}

// staticcheck builds the version pinned in go.mod and returns its path. "go tool"
// would build it with flags of its own, and the standard library with it.
func staticcheck(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "staticcheck")
	run(t, root(t), "go", "build", "-o", path, "honnef.co/go/tools/cmd/staticcheck")
	return path
}

// run fails the test where the command fails, with a line for each complaint.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	var complaints strings.Builder
	c := command(dir, args...)
	c.Stderr = &complaints
	out, err := c.Output()
	if err != nil {
		t.Errorf("%s: %v", strings.Join(args, " "), err)
		for line := range strings.Lines(string(out) + complaints.String()) {
			t.Error(strings.TrimSuffix(line, "\n"))
		}
	}
	return string(out)
}

// command is one that works in and below dir, whatever workspace is around. A larger
// heap saves it a quarter of its time.
func command(dir string, args ...string) *exec.Cmd {
	c := exec.Command(args[0], args[1:]...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOWORK=off", "GOGC=400", "PWD="+dir)
	return c
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
