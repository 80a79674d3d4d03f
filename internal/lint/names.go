package lint

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
)

// empty lists words that are refused in names, as they say nothing about a thing: code
// without a better place gathers there.
const empty = "util utils helper helpers manager managers base misc"

// checkNames finds files, packages and types whose names have one of the empty
// words in them.
func checkNames(t *Tree) []Finding {
	var found []Finding
	for f := range t.goFiles {
		file := strings.TrimSuffix(path.Base(f.Path), ".go")
		if w := emptyWord(file); w != "" {
			found = append(found, Finding{Path: f.Path, Message: "file name says " + w})
		}
		if w := emptyWord(f.Go.Name.Name); w != "" {
			found = append(found, t.finding(f.Go.Name.Pos(), "package name says %s", w))
		}
		ast.Inspect(f.Go, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if w := emptyWord(spec.Name.Name); w != "" {
					found = append(found, t.finding(spec.Pos(), "name of type %s says %s", spec.Name.Name, w))
				}
			}
			return true
		})
	}
	return found
}

// border matches where one word of a camelCase name ends and the next begins.
var border = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)

func emptyWord(name string) string {
	spaced := border.ReplaceAllString(strings.ReplaceAll(name, "_", " "), "$1$3 $2$4")
	for w := range strings.FieldsSeq(spaced) {
		if isIn(strings.ToLower(w), empty) {
			return w
		}
	}
	return ""
}

// leftover matches the marks of unfinished code, among them context's, in
// pieces so that it does not match itself.
var leftover = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)

// checkLeftovers finds marks of unfinished code in Go files.
func checkLeftovers(t *Tree) []Finding {
	var found []Finding
	for f := range t.goFiles {
		found = append(found, matchLines(f, leftover, "finish it, or open an issue and describe it there")...)
	}
	return found
}

// matchLines returns a finding for every line that matches.
func matchLines(f *File, pattern *regexp.Regexp, remedy string) []Finding {
	var found []Finding
	line := 0
	for text := range strings.Lines(f.Text) {
		line++
		if m := pattern.FindString(text); m != "" {
			found = append(found, Finding{Path: f.Path, Line: line, Message: "has " + strings.TrimSpace(m) + ": " + remedy})
		}
	}
	return found
}
