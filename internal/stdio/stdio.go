// Package stdio tells whether standard input, output and error were open when
// the process began.
//
// If one is closed, Go opens /dev/null in its place before any Go code runs. So a data
// file cannot become standard output, but a lost report looks like a written one. C code
// runs earlier and can check.
package stdio

// The file descriptors of the standard files.
const (
	In  = 0
	Out = 1
	Err = 2
)
