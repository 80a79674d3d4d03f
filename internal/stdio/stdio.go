// Package stdio tells whether standard input, output and error were open when
// the process began.
//
// Go opens /dev/null in the place of those that were not before any Go code
// runs, which keeps a data file from becoming standard output, but makes a
// report that is lost look like one that was written. C code runs earlier.
package stdio

// The standard files, by their descriptors.
const (
	In  = 0
	Out = 1
	Err = 2
)
