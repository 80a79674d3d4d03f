//go:build !unix

package process

import (
	"context"
	"errors"
	"io"
	"os/exec"

	"github.com/scqm/scqm/plugins/internal/executable"
)

// Process is unavailable on this system, which has no process groups. Configure returns
// an error, so that no method of Runner is called.
type Process struct {
	absent
	file *executable.File
}

// absent has the methods of a Runner, none of which is called.
type absent interface {
	Start(context.Context) error
	Wait(context.Context) error
	Kill(context.Context) error
	Stdout() io.ReadCloser
	Stderr() io.ReadCloser
	Diagnose(context.Context) string
	PluginToHost(network, address string) (string, string, error)
	HostToPlugin(network, address string) (string, string, error)
}

// New returns a Process that cannot be started.
func New(file *executable.File, _ string) *Process { return &Process{file: file} }

// Configure returns an error that says that plugins are unavailable.
func (*Process) Configure(*exec.Cmd, string, io.Writer) error {
	return errors.New("plugins need a Unix system")
}

// End does nothing.
func (*Process) End() {}

// EndState returns "".
func (*Process) EndState() string { return "" }

// EndedAlone returns true.
func (*Process) EndedAlone() bool { return true }

// Ended returns a nil channel.
func (*Process) Ended() <-chan struct{} { return nil }

// HasGuard returns false.
func (*Process) HasGuard() bool { return false }

// LastWords returns "".
func (*Process) LastWords() string { return "" }

// Name returns the path of the program.
func (p *Process) Name() string { return p.file.Path }

// ID returns "".
func (*Process) ID() string { return "" }
