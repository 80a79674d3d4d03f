//go:build !linux || (!amd64 && !arm64)

package main

// closedFiles is 0: this system has no entry point before Go.
const closedFiles uint32 = 0
