package bindings

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/memory"
)

const (
	// spareThreads is the number of threads that Go may start beyond one per processor:
	// for system calls, the garbage collector and signals.
	spareThreads = 4
	// othersBytes is the memory reserved for the interpreter and its libraries.
	othersBytes = 64 << 20
	// reusedHeap is the fraction of the heap freed by earlier jobs that the next job can
	// use again. Its arrays often have the same sizes.
	reusedHeap = 0.5
)

// affordable returns how many of all processors can be used under a limit of address
// space. If a thread cannot be started, the process ends.
func affordable(all int) int {
	return max(memory.Threads(all+spareThreads)-spareThreads, 1)
}

// startThreads makes Go start n threads now, if there is address space for them. If a
// limit is set later, Go uses these threads and need not start others; a failure to
// start a thread would end the process.
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

// SetMemory sets the maximum memory of all jobs together, as a size such as 512M or 4G.
// It returns 1.
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
