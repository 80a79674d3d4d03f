package frameworktest

import (
	"errors"
	"sync"
)

const (
	// concurrentCalls is the number of times that a goroutine repeats a call.
	concurrentCalls = 3
	// lossCallers and manifoldCallers are the numbers of goroutines that share an
	// object.
	lossCallers     = 4
	manifoldCallers = 8
)

// concurrently makes calls on several goroutines at once, and joins the first error
// of each. A panic is an error.
func concurrently(callers int, call func() error) error {
	errs := make([]error, callers)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			<-start
			for n := 0; n < concurrentCalls && errs[i] == nil; n++ {
				errs[i] = guard(call)
			}
		})
	}
	close(start)
	wg.Wait()
	return errors.Join(errs...)
}
