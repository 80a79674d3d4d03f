package lint

import (
	"flag"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// goBlock matches a fenced Go program in Markdown: a comment above that says why
// it is compiled only, the program, and the output below.
var goBlock = regexp.MustCompile("(?ms)(<!-- compiled only: [^\n]+ -->\n\n)?^```go\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?")

var updateGuide = flag.Bool("update", false, "write the outputs of Go programs in Markdown anew")

// TestReadme compiles the Go programs of the README and of the guide in a module
// of their own, as a reader would, runs them and compares what they print.
func TestReadme(t *testing.T) {
	needTools(t)
	root := root(t)
	pages, err := filepath.Glob(filepath.Join(root, "docs", "guide", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"),
		"module example.com/reader\n\ngo 1.26\n\nrequire "+module+" v0.0.0\n\nreplace "+module+" => "+root+"\n")
	write(t, filepath.Join(dir, "go.sum"), read(t, filepath.Join(root, "go.sum")))
	pageOf := map[string]string{}
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		for i, m := range goBlock.FindAllStringSubmatch(read(t, page), -1) {
			name := fmt.Sprintf("%s-%d", strings.TrimSuffix(filepath.Base(page), ".md"), i+1)
			if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, name, "main.go"), m[2])
			if m[1] == "" {
				pageOf[name] = page
			}
		}
	}
	if len(pageOf) < 5 {
		t.Fatalf("only %d programs were found", len(pageOf))
	}
	run(t, dir, "go", "build", "-mod=mod", "-o", "bin/", "./...")
	for name, page := range pageOf {
		t.Run(name, func(t *testing.T) { compareOutput(t, dir, name, page) })
	}
}

// learns matches the call of a fit of one model.
var learns = regexp.MustCompile(`\b(scqm\.)?Learn(Loss)?\((ctx|context\.)`)

// TestFitsThatAreShownConverge demands that programs in Markdown and examples of Go
// which fit a model print how that ended, and that it is "converged". That they print it
// is what [TestReadme] and go test find out.
func TestFitsThatAreShownConverge(t *testing.T) {
	found := 0
	check := func(where, program, output string) {
		if fits := len(learns.FindAllString(program, -1)); fits > 0 {
			found++
			if strings.Count(output, "converged") < fits {
				t.Errorf("%s fits %d models and does not show as often that a fit is converged", where, fits)
			}
		}
	}
	tree, err := Load(os.DirFS(root(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range tree.Files {
		if strings.HasSuffix(f.Path, ".md") {
			for i, m := range goBlock.FindAllStringSubmatch(f.Text, -1) {
				check(fmt.Sprintf("%s, program %d", f.Path, i+1), m[2], m[3])
			}
		}
	}
	for f := range tree.goFiles {
		for _, d := range f.Go.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.Test() && strings.HasPrefix(fn.Name.Name, "Example") {
				body := f.Text[fn.Body.Pos()-f.Go.FileStart : fn.Body.End()-f.Go.FileStart]
				program, output, _ := strings.Cut(body, "// Output:")
				check(f.Path+", "+fn.Name.Name, program, output)
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d programs that fit were found", found)
	}
}

// compareOutput runs a program of a page and compares what it prints with what
// stands below it.
func compareOutput(t *testing.T, dir, name, page string) {
	out := run(t, dir, filepath.Join(dir, "bin", name))
	if strings.TrimSpace(out) == "" {
		t.Fatal("the program prints nothing")
	}
	source := read(t, filepath.Join(dir, name, "main.go"))
	text := read(t, page)
	for _, m := range goBlock.FindAllStringSubmatchIndex(text, -1) {
		if text[m[4]:m[5]] != source || m[6] < 0 || text[m[6]:m[7]] == out {
			continue
		}
		if !*updateGuide {
			t.Errorf("prints\n%swhere the page has\n%s", out, text[m[6]:m[7]])
			continue
		}
		write(t, page, text[:m[6]]+out+text[m[7]:])
		return
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
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

// goNames matches a name of a package that a page has between backquotes.
var goNames = regexp.MustCompile("`(?:[a-z/]*/)?([a-z]+)\\.([A-Z][A-Za-z]*)`")

// TestGuideNamesGo finds every exported Go name that the guide names.
func TestGuideNamesGo(t *testing.T) {
	tree, err := Load(os.DirFS(root(t)))
	if err != nil {
		t.Fatal(err)
	}
	exported := map[string]map[string]bool{} // names by package
	for f := range tree.goFiles {
		if f.Test() {
			continue
		}
		names := exported[f.Go.Name.Name]
		if names == nil {
			names = map[string]bool{}
			exported[f.Go.Name.Name] = names
		}
		ast.Inspect(f.Go, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil {
					names[n.Name.Name] = true
				}
				return false
			case *ast.TypeSpec:
				names[n.Name.Name] = true
			case *ast.ValueSpec:
				for _, id := range n.Names {
					names[id.Name] = true
				}
			}
			return true
		})
	}
	found := 0
	for _, f := range tree.Files {
		if f.Folder() != "docs/guide" {
			continue
		}
		for _, m := range goNames.FindAllStringSubmatch(f.Text, -1) {
			if names, ok := exported[m[1]]; ok {
				found++
				// scqm is the name of the Python module too, which has its own tests.
				if !names[m[2]] && (m[1] != "scqm" || f.Path == "docs/guide/go.md") {
					t.Errorf("%s names %s.%s, which is nowhere", f.Path, m[1], m[2])
				}
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d names were found", found)
	}
}
