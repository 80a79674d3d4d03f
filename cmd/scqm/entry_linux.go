//go:build amd64 || arm64

package main

// closedFiles is set by the assembly routine _scqm_entry before the Go runtime starts.
// Bit n means that file descriptor n was closed. Without that routine it stays 0.
var closedFiles uint32
