package bindings

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/memory"
)

const (
	// spareThreads are those that Go starts beside one for each processor: for
	// what waits in the system, for the collector and for signals.
	spareThreads = 4
	// othersBytes are left to the interpreter and its libraries.
	othersBytes = 64 << 20
	// reusedHeap is the part of the heap that jobs have left that the next can
	// use again: its arrays are often of the same sizes.
	reusedHeap = 0.5
)

// affordable is how many of so many processors can be used under a limit of
// address space: a thread that cannot be started ends the process.
func affordable(all int) int {
	return max(memory.Threads(all+spareThreads)-spareThreads, 1)
}

// startThreads makes Go start so many threads now, when there is address space for
// them: a limit may come later, and a thread that cannot be started then ends the
// process. Go keeps threads for later use.
func startThreads(n int) {
	var all, ready sync.WaitGroup
	ready.Add(n)
	for range n {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready.Done()
			ready.Wait()
		})
	}
	all.Wait()
}

// SetMemory bounds the memory that all jobs together may take, given as a size
// such as 512M or 4G. It returns 1.
func SetMemory(size string) (int64, error) {
	return guarded("memory", func() (int64, error) {
		bytes, err := memory.Parse(size)
		if err != nil {
			return 0, fmt.Errorf("SCQM_MEMORY=%s: %w: %w", size, err, framework.ErrInvalid)
		}
		memory.SetCeiling(bytes, "SCQM_MEMORY")
		return 1, nil
	})
}
