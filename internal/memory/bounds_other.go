//go:build !linux

package memory

// systemBounds are known on Linux only: elsewhere the ceiling that the user sets
// is the one bound.
func systemBounds(usage) []Bound { return nil }

// Threads returns n.
func Threads(n int) int { return n }

// addressesLimited is not known here.
func addressesLimited() bool { return false }
