// Command scqm fits curved low-dimensional models to noisy data, and uses them to
// project, reconstruct and denoise rows.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	_ "github.com/scqm/scqm/cmd/scqm/internal/descriptors" // before any other package opens a file
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/internal/stdio"
	"github.com/scqm/scqm/plugins"
)

func main() {
	plugins.Guard()
	memory.Restrain(0, 0)
	closed := stdio.Closed() | closedFiles
	os.Exit(run(interruptible(), os.Args[1:], cli.StandardInput(closed), cli.StandardOutput(closed), os.Stderr))
}

// interruptible returns a context that the first SIGINT or SIGTERM cancels. A second
// signal ends the process at once.
func interruptible() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		cancel(cli.Interruption{Signal: <-signals})
		os.Exit(cli.Interruption{Signal: <-signals}.ExitCode())
	}()
	return ctx
}
