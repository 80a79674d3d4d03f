package lint

import (
	"path"
	"strconv"
	"strings"
)

// module is the path of the module that the rules check.
const module = "github.com/scqm/scqm"

// directions lists what the code of a folder may import besides the folder itself: groups,
// or folders of this module. The longest matching folder applies. A package that matches
// none is an error.
var directions = []struct{ from, to string }{
	{"framework", "std gonum internal/par internal/dense"},
	{"framework/frameworktest", "std gonum framework manifolds"},
	{"manifolds", "std gonum internal/par internal/dense framework"},
	{"losses", "std gonum internal/par internal/dense framework"},
	{"solvers", "std gonum internal/par internal/dense framework"},
	{"models", "std gonum internal/par internal/dense internal/dataset internal/memory framework manifolds losses solvers"},
	{"models/rows", "std gonum internal/par internal/dense framework"},
	{"models/scqm/internal/sheet", "std gonum internal/par internal/dense models/rows"},
	{"models/scqm/internal/nearest", "std gonum internal/par internal/dense framework models/rows models/scqm/internal/sheet"},
	{"models/scqm/internal/objective", "std gonum internal/par internal/dense framework manifolds models/rows " +
		"models/scqm/internal/sheet models/scqm/internal/nearest"},
	{"models/scqm/internal/planes", "std gonum internal/dense framework manifolds solvers models/rows"},
	{"models/scqm/internal/precondition", aboveObjective},
	{"models/scqm/internal/alternating", aboveObjective},
	{"models/scqm/internal/arrowhead", aboveObjective},
	{"models/scqm/internal/influence", aboveObjective + " models/scqm/internal/arrowhead"},
	{"models/scqm/internal/blocks", aboveObjective + " losses models/scqm/internal/alternating models/scqm/internal/arrowhead models/scqm/internal/influence"},
	{"models/scqm/internal/streaming", aboveObjective + " losses manifolds solvers models/scqm/internal/alternating models/scqm/internal/arrowhead models/scqm/internal/blocks models/scqm/internal/planes"},
	{"models/scqm/internal/problemtest", aboveObjective + " losses"},
	{"models/denoise/internal/lookup", "std internal/dense"},
	{"models/denoise/internal/core", "std gonum internal/par internal/dense internal/memory models/rows models/denoise/internal/lookup models/denoise/internal/chart"},
	{"models/denoise/internal/principal", "std gonum internal/par internal/dense internal/memory models/rows " +
		"models/denoise/internal/core models/denoise/internal/lookup models/denoise/internal/chart"},
	{"models/denoise/classic", "std gonum internal/par internal/dense framework losses solvers models/rows models/scqm " +
		"models/denoise/internal/core models/denoise/internal/lookup models/denoise/internal/chart"},
	{"models/denoise/internal/chart", "std gonum internal/dense models/rows models/denoise/internal/lookup"},
	{"models/mean", "std gonum internal/par internal/memory framework manifolds losses solvers models/rows"},
	{"models/residuals", "std gonum internal/par internal/dense framework manifolds losses solvers models/rows"},
	{"plugins", "std rpc framework losses internal/dense internal/gather internal/quote internal/shm"},
	{"plugins/internal/executable", "std plugins/internal/guard"},
	{"plugins/internal/frame", "std rpc plugins/protocol"},
	{"plugins/internal/guard", "std sys"},
	{"plugins/internal/process", "std plugins/internal/executable plugins/internal/guard internal/quote"},
	{"plugins/internal/segment", "std internal/shm plugins/internal/frame"},
	{"plugins/pluginstest", "std plugins/internal/guard"},
	{"bindings", "any"},
	{"cmd", "any"},

	{"internal/par", "std"},
	{"internal/dense", "std gonum sys"},
	{"internal/dataset", "std internal/memory"},
	{"internal/memory", "std"},
	{"internal/quote", "std"},
	{"internal/gather", "std"},
	{"internal/shm", "std sys"},
	{"internal/soak", "std internal/dataset internal/drill internal/par framework models"},
	{"internal/stdio", "std"},
	{"internal/drill", "std"},
	{"internal/licences", "std"},
	{"internal/lint", "std"},
	{"internal/standard", "std gonum framework manifolds"},
	{"internal/release", "std internal/licences models/scqm"},
	{"internal/experiments", "std gonum internal/par framework losses models"},
	{"internal/bench", "std gonum internal/dense internal/par framework losses solvers models"},
	{"internal/figures", "std gonum plot internal/experiments framework models"},
}

// aboveObjective lists what the parts of a scqm.Problem may import. They do not import
// each other.
const aboveObjective = "std gonum internal/par internal/dense framework models/rows " +
	"models/scqm/internal/sheet models/scqm/internal/nearest models/scqm/internal/objective"

// tests lists what test files may import besides their own folder: the test libraries, and
// any folder of this module that is not sealed.
const tests = "std gonum testify module"

// sealed lists the folders that no other folder may import.
const sealed = "bindings cmd"

// groups names sets of packages outside this module.
var groups = map[string]string{
	"gonum":   "gonum.org/v1/gonum",
	"testify": "github.com/stretchr/testify",
	"sys":     "golang.org/x/sys",
	"plot":    "gonum.org/v1/plot golang.org/x/image",
	"rpc":     "github.com/hashicorp/go-plugin github.com/hashicorp/go-hclog google.golang.org/grpc google.golang.org/protobuf",
}

// fences lists packages that only certain folders may import, regardless of directions. If
// tests is set, test files may import them too.
var fences = []struct {
	pkg, only   string
	openToTests bool
}{
	{"os/exec", "plugins internal/soak", true},
	{"github.com/hashicorp/go-plugin", "plugins", false},
	{"google.golang.org/grpc", "plugins", false},
	{"unsafe", "bindings internal/dataset internal/shm", false},
	{"C", "bindings internal/stdio", false},
	{"os/signal", "cmd plugins/internal/guard internal/soak", true}, // a guard is a program of its own
	{"gonum.org/v1/plot", "internal/figures", false},                // with its fonts too large for a library
	{module + "/internal/figures", "cmd", false},                    // so that the library stays without them
}

// checkImports finds imports that the tables above do not allow.
func checkImports(t *Tree) []Finding {
	var found []Finding
	for f := range t.goFiles {
		for _, spec := range f.Go.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue
			}
			if complaint := judgeImport(f.Folder(), imported, f.Test()); complaint != "" {
				found = append(found, t.finding(spec.Pos(), "imports %s: %s", imported, complaint))
			}
		}
	}
	return found
}

// judgeImport returns the reason why the code of a folder must not import a package, or
// "".
func judgeImport(folder, imported string, test bool) string {
	for _, f := range fences {
		if !isIn(imported, f.pkg) || isIn(folder, f.only) || test && f.openToTests {
			continue
		}
		return "only " + f.only + " may"
	}
	local, inModule := strings.CutPrefix(imported, module+"/")
	switch {
	case inModule && isIn(local, sealed) && !isIn(folder, top(local)):
		return top(local) + " is imported by nobody"
	case inModule && isIn(local, owner(folder)):
		return ""
	case test && allowed(imported, tests):
		return ""
	case owner(folder) == "":
		return "the table of directions has no line for " + folder
	case allowed(imported, target(folder)):
		return ""
	case test:
		return "its tests may import " + tests + ", and what " + owner(folder) + " may: " + target(folder)
	default:
		return owner(folder) + " may import " + target(folder)
	}
}

// owner returns the folder in directions that applies to a folder.
func owner(folder string) string {
	best := ""
	for _, d := range directions {
		if isIn(folder, d.from) && len(d.from) > len(best) {
			best = d.from
		}
	}
	return best
}

// target returns what the code of a folder may import.
func target(folder string) string {
	for _, d := range directions {
		if d.from == owner(folder) {
			return d.to
		}
	}
	return ""
}

// allowed reports whether names, groups or folders, include the imported package.
func allowed(imported, names string) bool {
	for name := range strings.FieldsSeq(names) {
		switch name {
		case "any":
			return true
		case "std":
			if !strings.Contains(top(imported), ".") {
				return true
			}
		case "module":
			if isIn(imported, module) {
				return true
			}
		default:
			if isIn(imported, groups[name]) || isIn(imported, path.Join(module, name)) {
				return true
			}
		}
	}
	return false
}

// top returns the first element of a path.
func top(p string) string {
	first, _, _ := strings.Cut(p, "/")
	return first
}
