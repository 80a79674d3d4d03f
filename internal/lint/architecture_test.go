package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// codeSpan matches what Markdown sets as code within a line.
var codeSpan = regexp.MustCompile("`([^`\n]+)`")

// TestArchitectureNamesFolders looks for every folder with Go code in
// docs/architecture.md. The rooms of models/scqm are listed there below their
// common folder.
func TestArchitectureNamesFolders(t *testing.T) {
	tree, err := Load(os.DirFS(root(t)))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root(t), "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range unnamed(tree, string(page)) {
		t.Errorf("docs/architecture.md does not name the folder %s; say what it offers and what it may import", folder)
	}
}

// unnamed lists the folders with Go code that a page does not name as code.
func unnamed(tree *Tree, page string) []string {
	named := map[string]bool{}
	for _, m := range codeSpan.FindAllStringSubmatch(page, -1) {
		named[m[1]] = true
	}
	var missing []string
	for f := range tree.goFiles {
		folder := f.Folder()
		room, inside := strings.CutPrefix(folder, "models/scqm/internal/")
		if named[folder] || inside && named[room] || slices.Contains(missing, folder) {
			continue
		}
		missing = append(missing, folder)
	}
	return missing
}

func TestUnnamedFolders(t *testing.T) {
	files := fstest.MapFS{}
	for _, path := range []string{
		"losses/l1.go", "losses/l2.go", "kernels/fast.go", "kernels/slow.go", "kernels/testdata/a.go",
		"models/scqm/internal/sheet/sheet.go", "models/scqm/internal/fog/fog.go",
	} {
		files[path] = &fstest.MapFile{Data: []byte("package p\n")}
	}
	tree, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	got := unnamed(tree, "| `losses` | one a file |\nkernels\n`models/scqm/internal`: `sheet`")
	if want := []string{"kernels", "models/scqm/internal/fog"}; !slices.Equal(got, want) {
		t.Errorf("not named: %v, want %v", got, want)
	}
}
