//go:build amd64 || arm64

package main

// closedFiles is written by _scqm_entry before there is Go: bit n says that file
// descriptor n was closed. Without that entry point it stays 0.
var closedFiles uint32
