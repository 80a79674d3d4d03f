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

// tokenKey names the variable of the environment by which the offspring of a
// plugin is known.
const tokenKey = "SCQM_PLUGIN_TOKEN"

// drainTime is how long the output of a plugin that has ended is waited for.
const drainTime = 200 * time.Millisecond

// Process is a plugin that runs in a process group of its own. It implements the
// Runner of go-plugin.
type Process struct {
	file       *executable.File
	cmd        *exec.Cmd // arguments and environment; it is not used to start
	root       string    // all its files are in here, and nobody else has access
	socketDir  string    // its socket is in here
	token      string
	stdout     *firstLine
	stderr     *stream
	output     outputTail
	log        io.Writer // may be nil
	supervisor supervisor
	ended      chan struct{} // closed when nothing of the plugin is left
	ending     guard.Ending
	ordered    atomic.Bool
	begun      atomic.Bool // supervisor is set
}

// New returns the process of a program that is not started yet. All its files
// are in the folder root, which is removed with it.
func New(file *executable.File, root string) *Process {
	return &Process{file: file, root: root, token: tokenKey + "=" + rand.Text(), ended: make(chan struct{})}
}

// Configure sets the arguments and the environment of cmd, to which a token is
// added by which offspring is known; the folder in which the plugin is to
// listen; and what receives its standard error, nil for nothing.
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
		p.supervisor.End() // the order came before there was anybody to obey
	}
	p.stdout = &firstLine{stream: newStream(out, nil)}
	p.stderr = newStream(errs, &p.output)
	if p.log != nil {
		p.stderr.copy = io.MultiWriter(&p.output, p.log)
	}
	go p.reap()
	return nil
}

// executable returns the path under which the program is started. On Linux it
// leads to the open file, which was checked, whatever has its name now; it ends
// in that name, which process lists and messages of scripts show.
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

// startFailure says what the common causes mean.
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

// reap waits for the end of the plugin and clears away what is left of it.
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

// End has the plugin killed, if it has been started. It does not wait for its
// end.
func (p *Process) End() {
	p.ordered.Store(true)
	if p.begun.Load() {
		p.supervisor.End()
	}
}

// EndedAlone reports whether a plugin that has ended was not killed from here,
// or its guard was.
func (p *Process) EndedAlone() bool {
	s := p.ending.Status
	killed := p.ending.Unknown || s.Signaled() && s.Signal() == syscall.SIGKILL
	return !killed || !p.ending.Ordered
}

// EndState says how the plugin ended.
func (p *Process) EndState() string { return endingText(p.ending) }

// Kill ends the plugin, whatever state it is in, and waits until nothing of it
// is left.
func (p *Process) Kill(context.Context) error {
	p.End()
	<-p.ended
	return nil
}

// Wait waits until nothing of the plugin is left.
func (p *Process) Wait(context.Context) error {
	<-p.ended
	if s := p.ending.Status; !p.ending.Unknown && s.Exited() && s.ExitStatus() == 0 {
		return nil
	}
	return errors.New(p.EndState())
}

// Stdout gives the first line of the output.
func (p *Process) Stdout() io.ReadCloser { return p.stdout }

// Stderr gives the log.
func (p *Process) Stderr() io.ReadCloser { return p.stderr }

// Name is the path of the program.
func (p *Process) Name() string { return p.file.Path }

// ID is the process number.
func (p *Process) ID() string {
	if !p.begun.Load() {
		return ""
	}
	return strconv.Itoa(p.supervisor.Pid())
}

// Diagnose adds nothing: errors are made elsewhere.
func (p *Process) Diagnose(context.Context) string { return "" }

// Ended is closed when nothing of the plugin is left.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// HasGuard reports whether a guard watches the plugin, or what is weaker.
func (p *Process) HasGuard() bool {
	_, ok := p.supervisor.(*guard.Guard)
	return ok
}

// LastWords returns the line of its output that says most, quoted; "" where it
// said nothing.
func (p *Process) LastWords() string { return p.output.lastWords() }

// PluginToHost insists on a socket in the folder that is closed to others.
func (p *Process) PluginToHost(network, address string) (string, string, error) {
	if network != "unix" || !strings.HasPrefix(address, p.socketDir+"/") || strings.Contains(address, "..") {
		return "", "", fmt.Errorf("it listens at %s %s, not at a socket in $PLUGIN_UNIX_SOCKET_DIR", quote.Text(network), quote.Text(address))
	}
	return network, address, nil
}

// HostToPlugin changes nothing.
func (p *Process) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}
