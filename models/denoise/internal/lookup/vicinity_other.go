//go:build !amd64 && !arm64

package lookup

// nearRows is none: lookups are in plain Go.
var nearRows [2]nearKernel
