//go:build !race

package drill

// Race reports whether the race detector is on. It makes tests about ten times slower, and
// sync.Pool drops some of its items at random.
const Race = false
