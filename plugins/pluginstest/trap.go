// Package pluginstest helps to test code that must not start plugins, such as code that
// reads a file from another person.
package pluginstest

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/scqm/scqm/plugins/internal/guard"
)

// ErrTrapped is the error of starting a plugin while a [Trap] is set.
var ErrTrapped = errors.New("no plugin is started in this test")

// Trap prevents the start of plugins until the test ends. All steps before the start
// are still done: the plugin is found and its file is checked. The function caught
// returns the files that would have been started. A test that uses Trap cannot run in
// parallel.
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
