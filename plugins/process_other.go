//go:build !unix

package plugins

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os/exec"
)

// process is not available on this system, which has no process groups.
type process struct {
	program *program
	cmd     *exec.Cmd
	root    string
	folder  string
	token   string
	words   *tail
	ended   chan struct{}
	log     io.Writer
}

var errSystem = errors.New("plugins need a Unix system")

func judgeFile(path string, _ fs.FileInfo) error     { return untrusted(path, "%v", errSystem) }
func judgeOwner(path, _ string, _ fs.FileInfo) error { return untrusted(path, "%v", errSystem) }
func names(fs.FileInfo) int                          { return 1 }

func (p *process) Start(context.Context) error                      { return errSystem }
func (p *process) end()                                             {}
func (p *process) endState() string                                 { return "" }
func (p *process) endedAlone() bool                                 { return true }
func (p *process) Kill(context.Context) error                       { return errSystem }
func (p *process) Wait(context.Context) error                       { return errSystem }
func (p *process) Stdout() io.ReadCloser                            { return nil }
func (p *process) Stderr() io.ReadCloser                            { return nil }
func (p *process) Name() string                                     { return p.program.path }
func (p *process) ID() string                                       { return "" }
func (p *process) Diagnose(context.Context) string                  { return "" }
func (p *process) PluginToHost(n, a string) (string, string, error) { return n, a, errSystem }
func (p *process) HostToPlugin(n, a string) (string, string, error) { return n, a, errSystem }
