// Package pluginstest helps programs that use plugins to test what must start
// none, such as reading a file from somebody else.
package pluginstest

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/scqm/scqm/plugins/internal/guard"
)

// ErrTrapped is what plugins fail with that [Trap] has kept from starting.
var ErrTrapped = errors.New("no plugin is started in this test")

// Trap keeps plugins from being started until the test ends. Everything up to
// the start is done: a plugin is found, and its file checked. The function that
// is returned lists the files that would have been started. Tests with a trap
// cannot run in parallel.
func Trap(t testing.TB) (caught func() []string) {
	var mu sync.Mutex
	var files []string
	trap := func(path string) error {
		mu.Lock()
		defer mu.Unlock()
		files = append(files, path)
		return ErrTrapped
	}
	before := guard.Trap.Swap(&trap)
	t.Cleanup(func() { guard.Trap.Store(before) })
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(files)
	}
}
