//go:build !amd64

package denoise

// nearRows is none: lookups are in plain Go.
var nearRows [2]nearKernel
