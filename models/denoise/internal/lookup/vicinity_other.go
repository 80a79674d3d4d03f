//go:build !amd64

package lookup

// nearRows is nil: without the kernel, lookups run in plain Go.
var nearRows func(table, x *float64, xStride int, squares *float64, within *byte, groups int)
