// Package descriptors ends the program with a one-line message if the limit of open
// files is too low. Without it, the Go runtime would print a stack trace when the first
// file is opened. That happens while packages are initialised: protobuf reads the
// executable. Go initialises packages in the order of their import paths, once their
// imports are initialised. This package imports almost nothing, so that it is
// initialised before protobuf.
package descriptors

import (
	"syscall"

	"github.com/scqm/scqm/internal/stdio"
)

// needed is the required number of open files: one, two for the poller of the Go
// runtime, and one spare.
const needed = 4

const complaint = "scqm: this process may not open 4 more files; raise the limit with ulimit -n, or close files\n"

func init() {
	if stdio.Spare(needed) < needed {
		_, _ = syscall.Write(2, []byte(complaint))
		syscall.Exit(1)
	}
}
