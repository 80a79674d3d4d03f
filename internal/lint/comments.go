package lint

import (
	"go/ast"
	"slices"
	"strings"
)

// checkComments finds packages without a package comment and exported
// declarations without a doc comment that begins with their name, outside of
// internal packages and tests.
func checkComments(t *Tree) []Finding {
	var found []Finding
	documented := map[string]bool{}
	var first []*File // of every package
	for f := range t.goFiles {
		if f.Test() || slices.Contains(strings.Split(f.Path, "/"), "internal") {
			continue
		}
		if _, seen := documented[f.Folder()]; !seen {
			first = append(first, f)
		}
		documented[f.Folder()] = documented[f.Folder()] || f.Go.Doc != nil
		for _, d := range f.Go.Decls {
			found = append(found, t.undocumented(d)...)
		}
	}
	for _, f := range first {
		if !documented[f.Folder()] {
			found = append(found, t.finding(f.Go.Name.Pos(), "package %s has no package comment", f.Go.Name.Name))
		}
	}
	return found
}

func (t *Tree) undocumented(d ast.Decl) []Finding {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || receiverExported(d.Recv)) {
			return t.wants(d.Name, d.Doc)
		}
	case *ast.GenDecl:
		var found []Finding
		for _, spec := range d.Specs {
			found = append(found, t.undocumentedSpec(d, spec)...)
		}
		return found
	}
	return nil
}

func (t *Tree) undocumentedSpec(d *ast.GenDecl, spec ast.Spec) []Finding {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		doc := s.Doc
		if doc == nil && !d.Lparen.IsValid() {
			doc = d.Doc
		}
		if s.Name.IsExported() {
			return t.wants(s.Name, doc)
		}
	case *ast.ValueSpec:
		// One comment serves a whole group of constants or variables.
		for _, name := range s.Names {
			if name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
				return []Finding{t.missing(name)}
			}
		}
	}
	return nil
}

// wants returns a finding unless doc begins with the name, or with an article and the name.
func (t *Tree) wants(name *ast.Ident, doc *ast.CommentGroup) []Finding {
	if strings.TrimSpace(doc.Text()) == "" {
		return []Finding{t.missing(name)}
	}
	start := strings.Fields(doc.Text())
	if len(start) > 1 && slices.Contains([]string{"A", "An", "The"}, start[0]) {
		start = start[1:]
	}
	if strings.TrimRight(start[0], ",:;.") != name.Name {
		return []Finding{t.finding(name.Pos(), "the comment of %s begins with %q; begin with the name", name.Name, start[0])}
	}
	return nil
}

func (t *Tree) missing(name *ast.Ident) Finding {
	return t.finding(name.Pos(), "exported %s has no doc comment", name.Name)
}

func receiverExported(recv *ast.FieldList) bool {
	if len(recv.List) == 0 {
		return false
	}
	for t := recv.List[0].Type; ; {
		switch inner := t.(type) {
		case *ast.StarExpr:
			t = inner.X
		case *ast.IndexExpr:
			t = inner.X
		case *ast.IndexListExpr:
			t = inner.X
		case *ast.Ident:
			return inner.IsExported()
		default:
			return false
		}
	}
}
