// Command scqm learns low-dimensional curved structure from noisy data, and
// moves rows to it and along it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(run(interruptible(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// interruption is the cause of a context that a signal cancelled.
type interruption struct{ os.Signal }

// Error names the signal.
func (i interruption) Error() string { return i.String() }

// exitCode is what a shell expects of a process that the signal ended.
func (i interruption) exitCode() int {
	if s, ok := i.Signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return exitInterrupted
}

// interruptible returns a context that the first SIGINT or SIGTERM cancels. The
// second ends the process at once.
func interruptible() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		cancel(interruption{<-signals})
		os.Exit(interruption{<-signals}.exitCode())
	}()
	return ctx
}
