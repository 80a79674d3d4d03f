package lint

import (
	"regexp"
	"strings"
)

// leftover matches marks of unfinished code, including context's. It is written in pieces,
// so that it does not match itself.
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
