// Package par is the only place of the module that starts goroutines for
// computing.
//
// The rows 0..n-1 are split into shards, which depend on n alone. Each shard is summed in
// row order, and shards are added in shard order, so that results do not depend on the
// number of threads, to the last bit.
package par

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

const (
	// minRows is the least number of rows for which a shard is worth the cost of scheduling it.
	minRows = 32
	// maxShards bounds the memory that partial sums take.
	maxShards = 64
)

// Shards returns the number of shards of n rows.
func Shards(n int) int {
	return min(max((n+minRows-1)/minRows, 1), maxShards)
}

// Bounds returns the rows [lo, hi) of shard s of n rows.
func Bounds(n, s int) (lo, hi int) {
	k := Shards(n)
	return s * n / k, (s + 1) * n / k
}

// Threads returns the number of threads of a user's setting: a setting below 1 means all
// processors.
func Threads(setting int) int {
	if setting < 1 {
		return runtime.GOMAXPROCS(0)
	}
	return setting
}

// Panic holds a panic of a worker, for the goroutine of the caller.
type Panic struct {
	Value any
	Stack []byte
}

// Error returns the value of the panic and the stack of the worker.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n%s", p.Value, p.Stack) }

// Do runs work(worker, i) for every i in [0, n) on at most threads goroutines,
// the caller's among them. Worker numbers are below threads and never used by
// two goroutines at a time. A panic in a worker ends the call with a panic
// of *[Panic] in the caller.
func Do(threads, n int, work func(worker, i int)) {
	threads = min(threads, n)
	if threads <= 1 {
		for i := range n {
			work(0, i)
		}
		return
	}
	var next atomic.Int64
	var failure atomic.Pointer[Panic]
	run := func(worker int) {
		defer func() {
			if r := recover(); r != nil {
				failure.CompareAndSwap(nil, &Panic{Value: r, Stack: debug.Stack()})
			}
		}()
		for failure.Load() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			work(worker, i)
		}
	}
	var wg sync.WaitGroup
	for w := 1; w < threads; w++ {
		wg.Go(func() { run(w) })
	}
	run(0)
	wg.Wait()
	if p := failure.Load(); p != nil {
		panic(p)
	}
}
