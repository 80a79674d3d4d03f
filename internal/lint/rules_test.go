package lint

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// sample is a synthetic tree with what a rule must say about it.
type sample struct {
	name string
	file string // where the text stands
	text string
	want string // part of the one finding; "" for none
}

// marks are the texts that the rules look for, in pieces: this file obeys them.
const (
	todo = "TO" + "DO"
	fix  = "FIX" + "ME"
)

func samples(rule string) []sample {
	switch rule {
	case "format":
		return []sample{
			{"good", "losses/l1.go", "package losses\n", ""},
			{"spaces", "losses/l1.go", "package losses\n\nvar  x int\n", "losses/l1.go:3: not formatted"},
			{"test file", "losses/l1_test.go", "package losses\nvar x int\n", "not formatted"},
			{"no syntax", "losses/l1.go", "package\n", "expected 'IDENT'"},
			{"testdata", "losses/testdata/bad.go", "package\n", ""},
			{"other language", "README.md", "package\n", ""},
		}
	case "imports":
		return importSamples()
	case "goroutines":
		return []sample{
			{"go statement", "losses/l1.go", "package losses\n\nfunc f() {\n\tgo f()\n}\n", "losses/l1.go:4: starts a goroutine"},
			{"wait group", "models/scqm/fit.go", "package scqm\n\nfunc f() { var wg sync.WaitGroup; wg.Go(f) }\n", "starts a goroutine"},
			{"timer", "framework/solve.go", "package framework\n\nfunc f() { time.AfterFunc(1, f) }\n", "starts a goroutine"},
			{"par", "internal/par/par.go", "package par\n\nfunc f() { go f() }\n", ""},
			{"program", "cmd/scqm/main.go", "package main\n\nfunc main() { go main() }\n", ""},
			{"plugins", "plugins/host.go", "package plugins\n\nfunc f() { go f() }\n", ""},
			{"bindings", "bindings/job.go", "package bindings\n\nfunc f() { go f() }\n", ""},
			{"suite", "framework/frameworktest/loss.go", "package frameworktest\n\nfunc f() { go f() }\n", ""},
			{"test", "losses/l1_test.go", "package losses\n\nfunc f() { go f() }\n", ""},
			{"other call", "losses/l1.go", "package losses\n\nfunc f() { x.Gone() }\n", ""},
		}
	case "lengths":
		long := func(n int) string { return "package losses\n\nfunc f() {\n" + strings.Repeat("\tf()\n", n) + "}\n" }
		return []sample{
			{"a screen", "losses/l1.go", long(58), ""},
			{"more", "losses/l1.go", long(59), "losses/l1.go:3: f has 61 lines"},
			{"test", "losses/l1_test.go", long(99), ""},
		}
	case "calls":
		return []sample{
			{"clock", "models/scqm/fit.go", "package scqm\n\nimport \"time\"\n\nvar t = time.Now()\n", "models/scqm/fit.go:5: uses time.Now"},
			{"clock of another name", "losses/l1.go", "package losses\n\nimport clock \"time\"\n\nvar t = clock.Since(u)\n", "uses clock.Since"},
			{"clock of Solve", "framework/solve.go", "package framework\n\nimport \"time\"\n\nvar t = time.Now()\n", ""},
			{"clock of a test", "models/scqm/fit_test.go", "package scqm\n\nimport \"time\"\n\nvar t = time.Now()\n", ""},
			{"duration", "losses/l1.go", "package losses\n\nimport \"time\"\n\nvar t time.Duration\n", ""},
			{"global generator", "framework/point.go", "package framework\n\nimport \"math/rand/v2\"\n\nvar x = rand.NormFloat64()\n", "cannot be seeded"},
			{"own generator", "framework/point.go", "package framework\n\nimport \"math/rand/v2\"\n\nvar x = rand.New(rand.NewPCG(1, 2))\n", ""},
			{"global generator for a file name", "internal/dataset/atomic.go", "package dataset\n\nimport \"math/rand/v2\"\n\nvar x = rand.Uint64()\n", ""},
			{"old generator", "cmd/scqm/main.go", "package main\n\nimport \"math/rand\"\n\nvar x = rand.New(s)\n", "use math/rand/v2"},
			{"printing", "solvers/rgd.go", "package solvers\n\nimport \"fmt\"\n\nfunc f() { fmt.Println() }\n", "output belongs to the program"},
			{"formatting", "solvers/rgd.go", "package solvers\n\nimport \"fmt\"\n\nvar s = fmt.Sprint()\n", ""},
			{"logging", "internal/par/par.go", "package par\n\nimport \"log\"\n\nfunc f() { log.Fatal() }\n", "return an error"},
			{"start", "cmd/scqm/main.go", "package main\n\nimport \"os\"\n\nvar p, err = os.StartProcess(a, b, c)\n", "only plugins start programs"},
			{"start below", "models/scqm/file.go", "package scqm\n\nimport \"syscall\"\n\nvar p, err = syscall.ForkExec(a, b, c)\n", "only plugins start programs"},
			{"start of a plugin", "plugins/host.go", "package plugins\n\nimport \"os\"\n\nvar p, err = os.StartProcess(a, b, c)\n", ""},
			{"exit", "bindings/job.go", "package bindings\n\nimport \"os\"\n\nfunc f() { os.Exit(1) }\n", "only a program"},
			{"program", "cmd/scqm/main.go", "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() { fmt.Println(); os.Exit(1) }\n", ""},
			{"method of the name", "losses/l1.go", "package losses\n\nvar t = clock.Now()\n", ""},
		}
	case "leftovers":
		return []sample{
			{"panic", "losses/l1.go", "package losses\n\nfunc f() { panic(\"" + todo + ": later\") }\n", "losses/l1.go:3: has " + todo},
			{"comment", "losses/l1_test.go", "package losses\n\n// " + fix + " soon\n", "has " + fix},
			{"context", "losses/l1.go", "package losses\n\nvar c = context." + todo + "()\n", "has " + todo},
			{"word", "losses/l1.go", "package losses\n\n// " + todo + "S are welcome.\n", ""},
			{"other file", "CHANGELOG.md", todo + "\n", ""},
		}
	case "comments":
		return commentSamples()
	case "places":
		return placeSamples()
	}
	return nil
}

func importSamples() []sample {
	in := func(name, file, imported, want string) sample {
		return sample{name, file, "package p\n\nimport _ \"" + imported + "\"\n", want}
	}
	const own, plugin, rpc = module + "/", "github.com/hashicorp/go-plugin", "google.golang.org/grpc/codes"
	return []sample{
		in("std", "framework/solve.go", "context", ""),
		in("gonum", "framework/solve.go", "gonum.org/v1/gonum/floats", ""),
		in("par", "framework/solve.go", own+"internal/par", ""),
		in("down", "framework/solve.go", own+"losses", "framework/solve.go:3: imports "+own+"losses: framework may import std gonum internal/par"),
		in("suite up", "framework/frameworktest/loss.go", own+"framework", ""),
		in("suite to par", "framework/frameworktest/loss.go", own+"internal/par", "framework/frameworktest may import std gonum framework"),
		in("suite to losses", "framework/frameworktest/loss.go", own+"losses", "framework/frameworktest may import"),
		in("suite to testify", "framework/frameworktest/loss.go", "github.com/stretchr/testify/assert", "framework/frameworktest may import"),
		in("suite's test", "framework/frameworktest/loss_test.go", own+"losses", ""),

		in("losses up", "losses/l1.go", own+"framework", ""),
		in("losses to suite", "losses/l1.go", own+"framework/frameworktest", ""),
		in("losses to manifolds", "losses/l1.go", own+"manifolds", "losses may import"),
		in("losses to dataset", "losses/l1.go", own+"internal/dataset", "losses may import"),
		in("manifolds to solvers", "manifolds/sphere.go", own+"solvers", "manifolds may import"),
		in("solvers to losses", "solvers/rgd.go", own+"losses", "solvers may import"),
		in("solvers to models", "solvers/rgd.go", own+"models/scqm", "solvers may import"),
		in("solvers to a stranger", "solvers/rgd.go", "github.com/stretchr/testify/assert", "solvers may import"),
		in("solvers' test", "solvers/rgd_test.go", own+"models/scqm", ""),
		in("solvers' test and testify", "solvers/rgd_test.go", "github.com/stretchr/testify/assert", ""),
		in("solvers' test and a stranger", "solvers/rgd_test.go", "github.com/spf13/cobra", "its tests may import std gonum testify module"),

		in("models", "models/denoise/fit.go", own+"solvers", ""),
		in("models to dataset", "models/scqm/file.go", own+"internal/dataset", ""),
		in("models to models", "models/denoise/fit.go", own+"models/scqm", ""),
		in("models to plugins", "models/scqm/fit.go", own+"plugins", "models may import"),
		in("plugins", "plugins/host.go", own+"losses", ""),
		in("plugins to solvers", "plugins/host.go", own+"solvers", "plugins may import"),
		in("plugins to memory", "plugins/lanes.go", own+"internal/shm", ""),
		in("memory to the system", "internal/shm/shm.go", "golang.org/x/sys/unix", ""),
		in("plugins to the system", "plugins/lanes.go", "golang.org/x/sys/unix", "plugins may import"),
		in("plugins and rpc", "plugins/host.go", plugin, ""),
		in("internal", "internal/dataset/npy.go", own+"framework", "internal/dataset may import std"),

		in("program", "cmd/scqm/main.go", "github.com/spf13/cobra", ""),
		in("program to own package", "cmd/scqm/main.go", own+"cmd/scqm/chart", ""),
		in("program to plugins", "cmd/scqm/main.go", own+"plugins", ""),
		in("program to bindings", "cmd/scqm/main.go", own+"bindings", "bindings is imported by nobody"),
		in("bindings to program", "bindings/job.go", own+"cmd/scqm", "cmd is imported by nobody"),
		in("models to program", "models/scqm/fit.go", own+"cmd/scqm", "cmd is imported by nobody"),
		in("test to program", "models/scqm/fit_test.go", own+"cmd/scqm", "cmd is imported by nobody"),
		in("test to bindings", "plugins/host_test.go", own+"bindings", "bindings is imported by nobody"),

		in("exec", "models/scqm/fit.go", "os/exec", "only plugins internal/soak may"),
		in("exec of the program", "cmd/scqm/main.go", "os/exec", "only plugins internal/soak may"),
		in("exec of plugins", "plugins/host.go", "os/exec", ""),
		in("exec of a test", "cmd/scqm/main_test.go", "os/exec", ""),
		in("rpc", "cmd/scqm/main.go", rpc, "only plugins may"),
		in("plugin in bindings", "bindings/job.go", plugin, "only plugins may"),
		in("signal", "bindings/job.go", "os/signal", "only cmd plugins/internal/guard internal/soak may"),
		in("signal of the program", "cmd/scqm/main.go", "os/signal", ""),
		in("unsafe", "internal/memory/npy.go", "unsafe", "only bindings internal/dataset internal/shm may"),
		in("unsafe in a test", "internal/par/par_test.go", "unsafe", "only bindings internal/dataset internal/shm may"),
		in("unsafe in bindings", "bindings/address.go", "unsafe", ""),
		in("cgo", "models/scqm/fit.go", "C", "only bindings internal/stdio may"),
		in("cgo of files", "internal/stdio/stdio.go", "C", ""),
		in("plot", "bindings/job.go", "gonum.org/v1/plot/plotter", "only internal/figures may"),
		in("plot of the program", "cmd/scqm/main.go", "gonum.org/v1/plot/plotter", "only internal/figures may"),
		in("plot of figures", "internal/figures/toy.go", "gonum.org/v1/plot/plotter", ""),
		in("images of figures", "internal/figures/toy.go", "golang.org/x/image/draw", ""),
		in("figures in bindings", "bindings/job.go", own+"internal/figures", "only cmd may"),
		in("figures in a test", "internal/bench/bench_test.go", own+"internal/figures", "only cmd may"),
		in("figures of the program", "cmd/scqm/main.go", own+"internal/figures", ""),
		in("neighbour of a fenced package", "losses/l1.go", "os", ""),
		in("new package", "kernels/fast.go", "math", "no line for kernels"),
		in("new internal package", "internal/fast/fast.go", "math", "no line for internal/fast"),
	}
}

func commentSamples() []sample {
	return []sample{
		{"good", "losses/l1.go", "// Package losses is.\npackage losses\n\n// L1 is.\ntype L1 struct{}\n\n// A Rho is.\ntype Rho int\n\n// Name is.\nfunc (*L1) Name() {}\n", ""},
		{"package", "losses/l1.go", "package losses\n", "losses/l1.go:1: package losses has no package comment"},
		{"type", "losses/l1.go", "// Package losses is.\npackage losses\n\ntype L1 struct{}\n", "losses/l1.go:4: exported L1 has no doc comment"},
		{"function", "losses/l1.go", "// Package losses is.\npackage losses\n\nfunc ByName() {}\n", "exported ByName"},
		{"method", "losses/l1.go", "// Package losses is.\npackage losses\n\n// L is.\ntype L[T any] int\n\nfunc (*L[t]) Name() {}\n", "exported Name"},
		{"method of a hidden type", "losses/l1.go", "// Package losses is.\npackage losses\n\nfunc (l l1[T]) Name() {}\n", ""},
		{"constant", "losses/l1.go", "// Package losses is.\npackage losses\n\nconst (\n\tx = 1\n\tY = 2\n)\n", "exported Y"},
		{"documented group", "losses/l1.go", "// Package losses is.\npackage losses\n\n// Numbers.\nconst (\n\tX = 1\n\tY = 2\n)\n", ""},
		{"line comment", "losses/l1.go", "// Package losses is.\npackage losses\n\nconst (\n\tX = 1 // one\n)\n", ""},
		{"other subject", "losses/l1.go", "// Package losses is.\npackage losses\n\n// Returns the loss.\nfunc ByName() {}\n", `begins with "Returns"`},
		{"test", "losses/l1_test.go", "package losses\n\nfunc TestL1() {}\n", ""},
		{"generated", "losses/l1.pb.go", "// Code generated by protoc-gen-go. DO NOT EDIT.\n\npackage losses\n\nvar X int\n", ""},
		{"internal", "internal/par/par.go", "package par\n\nfunc Do() {}\n", ""},
	}
}

func placeSamples() []sample {
	var list []sample
	for _, p := range []string{
		"https://proxy.golang" + ".org/x", "https://pypi" + ".org/simple", "registry.npmjs" + ".org",
		"index.crates" + ".io", "/home" + "/ann/data", "open(\"/Users" + "/ann\")", "/ro" + "ot/go",
	} {
		list = append(list, sample{p, "docs/a.md", "one\n" + p + "\n", "docs/a.md:2: has "})
	}
	for _, p := range []string{"https://example.org", "$HOME/data", "site/home" + "/page", "golang.org/x/tools"} {
		list = append(list, sample{p, "docs/a.md", p + "\n", ""})
	}
	return list
}

// TestRules shows that every rule reports what breaks it, once, and nothing
// else.
func TestRules(t *testing.T) {
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			list := samples(rule.Name)
			if !slices.ContainsFunc(list, func(s sample) bool { return s.want != "" }) {
				t.Fatal("no sample breaks this rule")
			}
			for _, s := range list {
				t.Run(s.name, func(t *testing.T) { s.check(t, rule) })
			}
		})
	}
}

func (s sample) check(t *testing.T, rule Rule) {
	tree, err := Load(fstest.MapFS{s.file: {Data: []byte(s.text)}})
	if err != nil {
		t.Fatal(err)
	}
	found := rule.Check(tree)
	switch {
	case s.want == "" && len(found) > 0:
		t.Errorf("found %v; want nothing", found)
	case s.want != "" && (len(found) != 1 || !strings.Contains(found[0].String(), s.want)):
		t.Errorf("found %v; want one finding with %q", found, s.want)
	}
}

// TestLoad says which files belong to the tree.
func TestLoad(t *testing.T) {
	files := fstest.MapFS{}
	for _, name := range []string{
		"a.go", ".ci/run", "docs/a.md", "out/a.txt", ".venv/a.py", "python/x.egg-info/a", ".git/config", "testdata/a.csv",
	} {
		files[name] = &fstest.MapFile{Data: []byte("package a\n")}
	}
	files["picture.png"] = &fstest.MapFile{Data: []byte{0x89, 'P', 'N', 'G', 0}}
	files["latin1.txt"] = &fstest.MapFile{Data: []byte{0xe9}}
	files["link"] = &fstest.MapFile{Mode: fs.ModeSymlink}
	tree, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range tree.Files {
		got = append(got, f.Path)
	}
	if want := []string{".ci/run", "a.go", "docs/a.md", "testdata/a.csv"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
