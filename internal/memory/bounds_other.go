//go:build !linux

package memory

// systemBounds returns nil: only Linux reports bounds. Elsewhere the ceiling that the user
// sets is the only bound.
func systemBounds(usage) []Bound { return nil }

// Threads returns n: no limit is known here.
func Threads(n int) int { return n }

// addressesLimited returns false: no limit is known here.
func addressesLimited() bool { return false }
