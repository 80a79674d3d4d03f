package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// Every package that others can import has a page; a new one is not forgotten.
func TestEveryPublicPackageHasAPage(t *testing.T) {
	var found []string
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(d.Name(), ".") && name != "."
		apart := slices.Contains([]string{"internal", "testdata", "cmd", "examples", "bindings", "pluginstest", "_build", "build"}, d.Name())
		if d.IsDir() && (hidden || apart) {
			return fs.SkipDir
		}
		if folder := filepath.ToSlash(filepath.Dir(name)); strings.HasSuffix(name, ".go") && !slices.Contains(found, folder) {
			found = append(found, folder)
		}
		return err
	}))
	require.ElementsMatch(t, found, packages)
}

func TestPages(t *testing.T) {
	out := t.TempDir()
	require.NoError(t, run(root, out, nil))
	page := func(name string) string {
		text, err := os.ReadFile(filepath.Join(out, name+".md"))
		require.NoError(t, err)
		return string(text)
	}
	index := page("index")
	for _, p := range packages {
		name := strings.ReplaceAll(p, "/", "-")
		require.Contains(t, index, "["+p+"]("+name+".md) | Package ")
		require.True(t, strings.HasPrefix(page(name), "# "+p+"\n"))
	}
	mean := page("models-mean")
	require.Contains(t, mean, "## func Of")
	require.Contains(t, mean, "func Of(ctx context.Context")
	require.NotContains(t, mean, "Output:", "the output stands below the program")
	require.Contains(t, mean, "```text\nmean [1.00 21.00], geometric median [1.00 1.62]\n")
	require.Contains(t, page("framework"), "### func (Status) String")
}

func TestRefusals(t *testing.T) {
	require.Error(t, run(root, "", nil))
	require.Error(t, run(root, t.TempDir(), []string{"more"}))
	require.ErrorContains(t, run(t.TempDir(), t.TempDir(), nil), "models")
}

// begin matches the sentence that says what to call first.
var begin = regexp.MustCompile(`(?s)^(?:[^\n]*\n)+?\n*Begin with .*?\[(\w+)\]`)

// go doc of a package opens with what to call first, and that exists.
func TestPackagesSayWhatToCallFirst(t *testing.T) {
	for _, folder := range packages {
		p, err := load(filepath.Join(root, folder), module+"/"+folder)
		require.NoError(t, err)
		m := begin.FindStringSubmatch(p.doc.Doc)
		require.NotNil(t, m, folder)
		at := strings.Index(p.doc.Doc, "Begin with ")
		require.LessOrEqual(t, strings.Count(p.doc.Doc[:at], "\n"), 12, "%s: below the first screen", folder)
		require.Regexp(t, `(?m)^## (func|type) `+m[1]+`$|^### func `+m[1]+`$`, p.page(), folder)
	}
}
