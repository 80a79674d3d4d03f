// Package descriptors ends a program that may open too few files, with a
// sentence. The Go runtime would end it with a trace when the first file is
// opened, which a package of the program does while it is initialised:
// protobuf reads the executable. Packages are initialised in the order of their
// paths as soon as those that they import are, and this one imports next to
// nothing, so that it comes first.
package descriptors

import (
	"syscall"

	"github.com/scqm/scqm/internal/stdio"
)

// needed is how many files must be open at a time: one, two for what the
// runtime waits with, and one for good measure.
const needed = 4

const complaint = "scqm: this process may not open 4 more files; raise the limit with ulimit -n, or close files\n"

func init() {
	if stdio.Spare(needed) < needed {
		_, _ = syscall.Write(2, []byte(complaint))
		syscall.Exit(1)
	}
}
