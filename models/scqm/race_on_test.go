//go:build race

package scqm

// racing says that the race detector is on, under which pools drop some of what
// they are given.
const racing = true
