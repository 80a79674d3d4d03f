//go:build unix

package process

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/scqm/scqm/internal/quote"
	"github.com/scqm/scqm/plugins/internal/executable"
	"github.com/scqm/scqm/plugins/internal/guard"
)

// tokenKey is the environment variable by which descendants of a plugin are recognised.
const tokenKey = "SCQM_PLUGIN_TOKEN"

// drainTime is the maximum wait for the remaining output of a plugin that has ended.
const drainTime = 200 * time.Millisecond

// Process is a plugin in its own process group. It implements the Runner interface of
// go-plugin.
type Process struct {
	file       *executable.File
	cmd        *exec.Cmd // holds arguments and environment; it is not started
	root       string    // folder of all files of the plugin; other users have no access
	socketDir  string    // folder of the socket
	token      string
	stdout     *firstLine
	stderr     *stream
	output     outputTail
	log        io.Writer // may be nil
	supervisor supervisor
	ended      chan struct{} // closed when all processes and files of the plugin are gone
	ending     guard.Ending
	ordered    atomic.Bool
	begun      atomic.Bool // true once supervisor is set
}

// New returns a Process for a program that is not started yet. All files of the process
// are in the folder root, which is removed with it.
func New(file *executable.File, root string) *Process {
	return &Process{file: file, root: root, token: tokenKey + "=" + rand.Text(), ended: make(chan struct{})}
}

// Configure sets the arguments and the environment of the plugin from cmd, and adds a
// token by which descendants are recognised. socketDir is the folder for the plugin's
// socket. log receives its standard error and may be nil.
func (p *Process) Configure(cmd *exec.Cmd, socketDir string, log io.Writer) error {
	cmd.Env = append(cmd.Env, p.token)
	for _, text := range append(slices.Clone(cmd.Args), cmd.Env...) {
		if strings.ContainsRune(text, 0) {
			return fmt.Errorf("%s holds a NUL, which arguments and environment cannot", quote.Text(text))
		}
	}
	p.cmd, p.socketDir, p.log = cmd, socketDir, log
	return nil
}

// Start starts the plugin.
func (p *Process) Start(context.Context) error {
	if err := guard.Trapped(p.file.Path); err != nil {
		return err
	}
	path, err := p.executable()
	if err != nil {
		return err
	}
	out, outWriter, err := os.Pipe()
	if err != nil {
		return err
	}
	errs, errsWriter, err := os.Pipe()
	if err != nil {
		return errors.Join(err, out.Close(), outWriter.Close())
	}
	p.supervisor, err = keep(guard.Program{
		Path: path, Args: p.cmd.Args, Env: p.cmd.Env, Dir: p.root,
		File: p.file.File, Stdout: outWriter, Stderr: errsWriter,
	}, p.token)
	outWriter.Close()
	errsWriter.Close()
	if err != nil {
		out.Close()
		errs.Close()
		return startFailure(err)
	}
	p.begun.Store(true)
	if p.ordered.Load() {
		p.supervisor.End() // End was called before the supervisor existed
	}
	p.stdout = &firstLine{stream: newStream(out, nil)}
	p.stderr = newStream(errs, &p.output)
	if p.log != nil {
		p.stderr.copy = io.MultiWriter(&p.output, p.log)
	}
	go p.reap()
	return nil
}

// executable returns the path with which the program is started. On Linux it leads to
// the open, checked file, even if the file has been replaced since. It ends in the file
// name, which process lists and messages of scripts show.
func (p *Process) executable() (string, error) {
	if _, err := os.Stat("/proc/self/fd"); err == nil && runtime.GOOS == "linux" {
		link := filepath.Join(p.root, filepath.Base(p.file.Path))
		return link, os.Symlink("/proc/self/fd/3", link)
	}
	if p.file.Script == nil {
		return p.file.Path, nil
	}
	copied := filepath.Join(p.root, filepath.Base(p.file.Path))
	return copied, os.WriteFile(copied, p.file.Script, 0o700)
}

// startFailure adds an explanation to common start errors.
func startFailure(err error) error {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return errors.New("is neither a program for this machine nor a script with #! in its first line")
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("its interpreter, named after #! in its first line, is missing")
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// reap waits until the plugin ends and then removes its processes and files.
func (p *Process) reap() {
	p.ending = p.supervisor.Wait()
	if p.ending.Unknown {
		killOrphans(p.token)
	}
	limit := time.NewTimer(drainTime)
	for _, s := range []*stream{p.stdout.stream, p.stderr} {
		select {
		case <-s.drained:
		case <-limit.C:
			limit.Reset(0)
		}
		s.Close()
	}
	limit.Stop()
	close(p.ended)
}

// End kills the plugin if it was started. It does not wait until the plugin has ended.
func (p *Process) End() {
	p.ordered.Store(true)
	if p.begun.Load() {
		p.supervisor.End()
	}
}

// EndedAlone reports whether a plugin that has ended was not killed by this process, or
// whether its guard was killed.
func (p *Process) EndedAlone() bool {
	s := p.ending.Status
	killed := p.ending.Unknown || s.Signaled() && s.Signal() == syscall.SIGKILL
	return !killed || !p.ending.Ordered
}

// EndState returns a text that says how the plugin ended.
func (p *Process) EndState() string { return endingText(p.ending) }

// Kill kills the plugin in any state, and waits until all its processes and files are
// gone.
func (p *Process) Kill(context.Context) error {
	p.End()
	<-p.ended
	return nil
}

// Wait waits until all processes and files of the plugin are gone.
func (p *Process) Wait(context.Context) error {
	<-p.ended
	if s := p.ending.Status; !p.ending.Unknown && s.Exited() && s.ExitStatus() == 0 {
		return nil
	}
	return errors.New(p.EndState())
}

// Stdout returns a reader of the first line of the plugin's output.
func (p *Process) Stdout() io.ReadCloser { return p.stdout }

// Stderr returns a reader of the plugin's standard error.
func (p *Process) Stderr() io.ReadCloser { return p.stderr }

// Name returns the path of the program.
func (p *Process) Name() string { return p.file.Path }

// ID returns the process ID as text.
func (p *Process) ID() string {
	if !p.begun.Load() {
		return ""
	}
	return strconv.Itoa(p.supervisor.Pid())
}

// Diagnose returns "", because other code describes errors.
func (p *Process) Diagnose(context.Context) string { return "" }

// Ended returns a channel that is closed when all processes and files of the plugin are gone.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// HasGuard reports whether a guard supervises the plugin, rather than the weaker shell.
func (p *Process) HasGuard() bool {
	_, ok := p.supervisor.(*guard.Guard)
	return ok
}

// LastWords returns the most informative line of the plugin's output, quoted, or "" if
// there is no output.
func (p *Process) LastWords() string { return p.output.lastWords() }

// PluginToHost returns an error unless the address is a socket in the plugin's private folder.
func (p *Process) PluginToHost(network, address string) (string, string, error) {
	if network != "unix" || !strings.HasPrefix(address, p.socketDir+"/") || strings.Contains(address, "..") {
		return "", "", fmt.Errorf("it listens at %s %s, not at a socket in $PLUGIN_UNIX_SOCKET_DIR", quote.Text(network), quote.Text(address))
	}
	return network, address, nil
}

// HostToPlugin returns the address unchanged.
func (p *Process) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}
