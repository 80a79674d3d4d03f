package lint

import "go/ast"

// maxLines is the largest number of lines of a function.
const maxLines = 60

// checkLengths finds functions of more than maxLines lines, except in tests.
func checkLengths(t *Tree) []Finding {
	var found []Finding
	for f := range t.goFiles {
		if f.Test() {
			continue
		}
		for _, d := range f.Go.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := t.positions.Position(fn.End()).Line - t.positions.Position(fn.Pos()).Line + 1; n > maxLines {
				found = append(found, t.finding(fn.Pos(), "%s has %d lines; at most %d fit on a screen", fn.Name.Name, n, maxLines))
			}
		}
	}
	return found
}
