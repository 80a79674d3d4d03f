package lint

import (
	"go/format"
)

// checkFormat finds Go files that gofmt would change or cannot parse.
func checkFormat(t *Tree) []Finding {
	var found []Finding
	for _, f := range t.Files {
		if !f.isGo() {
			continue
		}
		switch formatted, err := format.Source([]byte(f.Text)); {
		case err != nil:
			found = append(found, Finding{Path: f.Path, Message: err.Error()})
		case string(formatted) != f.Text:
			found = append(found, Finding{Path: f.Path, Line: firstDifference(f.Text, string(formatted)), Message: "not formatted; run gofmt -w"})
		}
	}
	return found
}

// firstDifference returns the number, from 1, of the first line that differs between two texts.
func firstDifference(a, b string) int {
	line := 1
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			break
		}
		if a[i] == '\n' {
			line++
		}
	}
	return line
}
