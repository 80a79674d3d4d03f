package lint

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// straight are the packages in which no two files use names of each other, directly or by
// way of others: in them a file can be read with those that it uses, and no more.
var straight = []string{
	"models/scqm", "models/scqm/internal/sheet", "models/rows", "models/mean",
	"plugins/internal/executable", "plugins/internal/guard", "plugins/internal/process",
	"cmd/scqm/internal/cli", "cmd/scqm/internal/options", "internal/figures",
}

// widest is the number of files that may use names of each other in other packages.
const widest = 12

// TestCirclesOfFiles looks for circles among the files of every package.
func TestCirclesOfFiles(t *testing.T) {
	needTools(t)
	exports, sources := map[string]string{}, map[string][]string{}
	for line := range strings.Lines(run(t, root(t), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{.Dir}}\t{{if not .CgoFiles}}{{join .GoFiles \" \"}}{{end}}", "./...")) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		exports[fields[0]] = fields[1]
		if name, ours := strings.CutPrefix(fields[0], module+"/"); ours {
			for file := range strings.FieldsSeq(fields[3]) {
				sources[name] = append(sources[name], filepath.Join(fields[2], file))
			}
		}
	}
	for _, name := range straight {
		if len(sources[name]) == 0 {
			t.Errorf("%s has no files", name)
		}
	}
	for name, files := range sources {
		arrows, err := fileArrows(module+"/"+name, files, func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
		if err != nil {
			t.Fatal(err)
		}
		most := widest
		if slices.Contains(straight, name) {
			most = 1
		}
		for _, circle := range circlesOf(arrows) {
			if len(circle) > most {
				t.Errorf("%s: %d files that use names of each other, at most %d: %s", name, len(circle), most, strings.Join(circle, ", "))
			}
		}
	}
}

// fileArrows type-checks a package and says which other files each of its files uses names of.
func fileArrows(path string, sources []string, lookup importer.Lookup) (map[string][]string, error) {
	positions := token.NewFileSet()
	var files []*ast.File
	for _, source := range sources {
		f, err := parser.ParseFile(positions, source, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(positions, "gc", lookup)}
	p, err := config.Check(path, positions, files, &info)
	if err != nil {
		return nil, err
	}
	file := func(at token.Pos) string { return filepath.Base(positions.Position(at).Filename) }
	arrows := map[string][]string{}
	for use, of := range info.Uses {
		if of.Pkg() != p || !of.Pos().IsValid() {
			continue
		}
		from, to := file(use.Pos()), file(of.Pos())
		if from != to && !slices.Contains(arrows[from], to) {
			arrows[from] = append(arrows[from], to)
		}
	}
	return arrows, nil
}

// circlesOf returns the strongly connected components of more than one vertex, in order.
//
// Source: R. Tarjan, Depth-first search and linear graph algorithms, SIAM Journal on Computing 1
// (1972).
func circlesOf(arrows map[string][]string) [][]string {
	var circles [][]string
	var stack []string
	index, low := map[string]int{}, map[string]int{}
	var visit func(v string)
	visit = func(v string) {
		index[v] = len(index) + 1
		low[v] = index[v]
		stack = append(stack, v)
		for _, w := range arrows[v] {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if slices.Contains(stack, w) {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] < index[v] {
			return
		}
		at := slices.Index(stack, v)
		if circle := slices.Sorted(slices.Values(stack[at:])); len(circle) > 1 {
			circles = append(circles, circle)
		}
		stack = stack[:at]
	}
	for v := range arrows {
		if index[v] == 0 {
			visit(v)
		}
	}
	slices.SortFunc(circles, slices.Compare)
	return circles
}

func TestCirclesOf(t *testing.T) {
	tests := []struct {
		name   string
		arrows map[string][]string
		want   [][]string
	}{
		{"none", map[string][]string{"a": {"b", "c"}, "b": {"c"}}, nil},
		{"two", map[string][]string{"a": {"b"}, "b": {"a"}}, [][]string{{"a", "b"}}},
		{"by way of another", map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"a", "d"}}, [][]string{{"a", "b", "c"}}},
		{"two circles", map[string][]string{"a": {"b"}, "b": {"a", "c"}, "c": {"d"}, "d": {"c"}}, [][]string{{"a", "b"}, {"c", "d"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := circlesOf(test.arrows); !slices.EqualFunc(got, test.want, slices.Equal) {
				t.Errorf("circles %v; want %v", got, test.want)
			}
		})
	}
}

// TestFileArrows type-checks two files that use each other.
func TestFileArrows(t *testing.T) {
	dir := t.TempDir()
	sources := []string{filepath.Join(dir, "a.go"), filepath.Join(dir, "b.go")}
	write(t, sources[0], "package p\n\ntype A struct{ n int }\n\nfunc f() int { return B{}.n() }\n")
	write(t, sources[1], "package p\n\ntype B struct{ a A }\n\nfunc (b B) n() int { return b.a.n }\n")
	arrows, err := fileArrows("p", sources, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(arrows["a.go"], []string{"b.go"}) || !slices.Equal(arrows["b.go"], []string{"a.go"}) {
		t.Errorf("arrows %v; want one each way", arrows)
	}
}
