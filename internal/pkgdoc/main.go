// Pkgdoc writes Markdown pages on the Go packages of this module that others can import,
// from their doc comments, for the site (docs/site):
//
//	go run ./internal/pkgdoc -o DIR
//
// DIR gets index.md, and a page for each package.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// module is the path of the module.
const module = "github.com/scqm/scqm"

// packages are the folders with a page, in the order of a first visit.
var packages = []string{
	"models/scqm", "models/selection", "models/denoise", "models/denoise/classic", "models/mean", "models/residuals", "models/page", "models/rows",
	"framework", "framework/stop", "framework/frameworktest", "framework/latent", "framework/rowloss", "manifolds", "losses",
	"solvers", "solvers/constrained", "solvers/proximal", "solvers/finitesum", "plugins", "plugins/protocol",
}

func main() {
	out := flag.String("o", "", "folder for the pages")
	flag.Parse()
	if err := run(".", *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "pkgdoc:", err)
		os.Exit(1)
	}
}

// run writes the pages on the packages of the module at root to the folder out.
func run(root, out string, args []string) error {
	if out == "" || len(args) > 0 {
		return errors.New("usage: pkgdoc -o DIR")
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var index strings.Builder
	index.WriteString("# Go packages\n\nThe [page for Go engineers](../guide/go-engineers.md) says which to take, " +
		"the [guide](../guide/go.md) shows them at work.\n\n| import | |\n| --- | --- |\n")
	tree := "\n```{toctree}\n:hidden:\n\n"
	for _, folder := range packages {
		p, err := load(filepath.Join(root, filepath.FromSlash(folder)), module+"/"+folder)
		if err != nil {
			return err
		}
		name := strings.ReplaceAll(folder, "/", "-")
		if err := os.WriteFile(filepath.Join(out, name+".md"), []byte(p.page()), 0o644); err != nil {
			return err
		}
		fmt.Fprintf(&index, "| [%s](%s.md) | %s |\n", folder, name, escape(p.doc.Synopsis(p.doc.Doc)))
		tree += name + "\n"
	}
	index.WriteString(tree + "```\n")
	return os.WriteFile(filepath.Join(out, "index.md"), []byte(index.String()), 0o644)
}
