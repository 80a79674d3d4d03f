//go:build !unix

package process

import (
	"context"
	"errors"
	"io"
	"os/exec"

	"github.com/scqm/scqm/plugins/internal/executable"
)

// Process is not available on this system, which has no process groups.
type Process struct{ file *executable.File }

var errSystem = errors.New("plugins need a Unix system")

// New returns a process that cannot be started.
func New(file *executable.File, _ string) *Process { return &Process{file} }

// Configure does nothing.
func (*Process) Configure(*exec.Cmd, string, io.Writer) error { return nil }

// Start returns an error.
func (*Process) Start(context.Context) error { return errSystem }

// End does nothing.
func (*Process) End() {}

// EndState returns "".
func (*Process) EndState() string { return "" }

// EndedAlone returns true.
func (*Process) EndedAlone() bool { return true }

// Ended never ends.
func (*Process) Ended() <-chan struct{} { return nil }

// HasGuard returns false.
func (*Process) HasGuard() bool { return false }

// Write does nothing.
func (*Process) Write(text []byte) (int, error) { return len(text), nil }

// LastWords returns "".
func (*Process) LastWords() string { return "" }

// Kill returns an error.
func (*Process) Kill(context.Context) error { return errSystem }

// Wait returns an error.
func (*Process) Wait(context.Context) error { return errSystem }

// Stdout returns nil.
func (*Process) Stdout() io.ReadCloser { return nil }

// Stderr returns nil.
func (*Process) Stderr() io.ReadCloser { return nil }

// Name is the path of the program.
func (p *Process) Name() string { return p.file.Path }

// ID returns "".
func (*Process) ID() string { return "" }

// Diagnose returns "".
func (*Process) Diagnose(context.Context) string { return "" }

// PluginToHost returns an error.
func (*Process) PluginToHost(n, a string) (string, string, error) { return n, a, errSystem }

// HostToPlugin returns an error.
func (*Process) HostToPlugin(n, a string) (string, string, error) { return n, a, errSystem }
