// Package lint holds the rules of the house that a program can check. Its tests
// apply them to the whole repository: `go test ./internal/lint`.
//
// A [Rule] looks at a [Tree] and returns what is wrong, one [Finding] per place.
// Rules are tables where they can be, so that they read like the design and a
// change of the design is a change of one line.
package lint

import (
	"fmt"
	"strings"
)

// Rule is one thing that the tree must obey.
type Rule struct {
	// Name names the rule in test output.
	Name string
	// Why says in a sentence what the rule is good for.
	Why string
	// Check returns the places that break the rule.
	Check func(*Tree) []Finding
}

// Finding is one place that breaks a rule.
type Finding struct {
	// Path is the file, relative to the root; Line counts from 1, 0 stands for
	// the whole file.
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

// Rules lists the rules in the order in which they are checked.
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

// isIn reports whether path is one of the folders listed, or below one.
func isIn(path, folders string) bool {
	for folder := range strings.FieldsSeq(folders) {
		if path == folder || strings.HasPrefix(path, folder+"/") {
			return true
		}
	}
	return false
}
