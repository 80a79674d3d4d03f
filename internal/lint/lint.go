// Package lint checks the coding rules of this repository. Its tests apply them to all
// files: `go test ./internal/lint`.
//
// A [Rule] examines a [Tree] and returns one [Finding] for each violation. Where possible
// a rule is a table, so that a change of the design changes one line.
package lint

import (
	"fmt"
	"strings"
)

// Rule is one rule for the tree.
type Rule struct {
	// Name names the rule in test output.
	Name string
	// Why gives the purpose of the rule in a sentence.
	Why string
	// Check returns the places that break the rule.
	Check func(*Tree) []Finding
}

// Finding is one violation of a rule.
type Finding struct {
	// Path is the file, relative to the root. Line counts from 1; 0 means the whole file.
	Path string
	Line int
	// Message says what is wrong.
	Message string
}

// String returns the finding in the form path:line: message.
func (f Finding) String() string {
	if f.Line == 0 {
		return f.Path + ": " + f.Message
	}
	return fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.Message)
}

// Rules lists the rules in the order of checking.
func Rules() []Rule {
	return []Rule{
		{"format", "differences show meaning, not layout", checkFormat},
		{"imports", "every line knows where it lives; packages can be used alone", checkImports},
		{"goroutines", "results must not depend on scheduling; one place is easier to trust than twenty", checkGoroutines},
		{"calls", "runs are reproducible, and output and exit codes belong to the program", checkCalls},
		{"leftovers", "open ends belong in the tracker", checkLeftovers},
		{"comments", "an exported name without a contract cannot be relied on", checkComments},
		{"lengths", "what is seen whole is understood", checkLengths},
		{"places", "text names no machine, home directory or package server", checkPlaces},
	}
}

// isIn reports whether path is one of the folders, or below one.
func isIn(path, folders string) bool {
	for folder := range strings.FieldsSeq(folders) {
		if path == folder || strings.HasPrefix(path, folder+"/") {
			return true
		}
	}
	return false
}
