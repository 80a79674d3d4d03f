//go:build !race

package drill

// Race tells that the race detector is on. It makes everything some ten times slower,
// and pools drop some of what they are given.
const Race = false
