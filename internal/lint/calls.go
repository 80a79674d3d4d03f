package lint

import (
	"go/ast"
	"path"
	"regexp"
	"strconv"
)

// starters are the folders whose code may start goroutines. frameworktest counts as a
// test: it checks whether types can be used concurrently.
const starters = "internal/par plugins bindings cmd framework/frameworktest"

// checkGoroutines finds goroutines outside of starters and tests: go
// statements, methods named Go (of a WaitGroup or a group like it) and
// AfterFunc.
func checkGoroutines(t *Tree) []Finding {
	var found []Finding
	for f := range t.goFiles {
		if f.Test() || isIn(f.Folder(), starters) {
			continue
		}
		ast.Inspect(f.Go, func(n ast.Node) bool {
			if startsGoroutine(n) {
				found = append(found, t.finding(n.Pos(), "starts a goroutine; only %s and tests may: see internal/par", starters))
			}
			return true
		})
	}
	return found
}

func startsGoroutine(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		method, ok := n.Fun.(*ast.SelectorExpr)
		return ok && (method.Sel.Name == "Go" || method.Sel.Name == "AfterFunc")
	}
	return false
}

// calls lists functions of other packages that the code of some folders must not call.
// Tests may.
var calls = []struct {
	pkg, names string // the names are a regular expression
	in, notIn  string // "" stands for everywhere and for nowhere
	why        string
}{
	{"time", "Now|Since|Until", "losses manifolds models solvers", "", "equal input gives equal output; the clock belongs to framework.Solve"},
	{"math/rand/v2", "Exp.*|Float.*|Int.*|N|Norm.*|Perm|Shuffle|Uint.*", "framework losses manifolds models solvers", "", "the global generator cannot be seeded; pass a *rand.Rand"},
	{"math/rand", ".*", "", "", "its streams are tied to old sources; use math/rand/v2"},
	{"fmt", "Print.*", "", "cmd plugins", "output belongs to the program"},
	{"log", ".*", "", "cmd plugins", "output belongs to the program; return an error"},
	{"os", "StartProcess", "", "plugins", "only plugins start programs"},
	{"syscall", "Exec|ForkExec|StartProcess", "", "plugins", "only plugins start programs"},
	{"golang.org/x/sys/unix", "Exec", "", "plugins", "only plugins start programs"},
	{"os", "Exit", "", "cmd plugins internal/release internal/soak", "only a program ends itself; return an error"},
}

// checkCalls finds uses of the functions in calls.
func checkCalls(t *Tree) []Finding {
	var found []Finding
	for f := range t.goFiles {
		if f.Test() {
			continue
		}
		names := importNames(f.Go)
		ast.Inspect(f.Go, func(n ast.Node) bool {
			use, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := use.X.(*ast.Ident); ok {
				if why := judgeCall(f.Folder(), names[pkg.Name], use.Sel.Name); why != "" {
					found = append(found, t.finding(n.Pos(), "uses %s.%s: %s", pkg.Name, use.Sel.Name, why))
				}
			}
			return true
		})
	}
	return found
}

func judgeCall(folder, pkg, name string) string {
	for _, c := range calls {
		if c.pkg != pkg || c.in != "" && !isIn(folder, c.in) || isIn(folder, c.notIn) {
			continue
		}
		if regexp.MustCompile(`^(` + c.names + `)$`).MatchString(name) {
			return c.why
		}
	}
	return ""
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// importNames maps the names of the imports of a file to their paths. It takes the last
// element of a path as the package name.
func importNames(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(p)
		if majorVersion.MatchString(name) {
			name = path.Base(path.Dir(p))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = p
	}
	return names
}
