//go:build unix

package plugins

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/scqm/scqm/plugins/internal/guard"
)

// drainTime is how long the output of a plugin that has ended is waited for.
const drainTime = 200 * time.Millisecond

// process is a plugin that runs in a process group of its own. It implements
// the Runner of go-plugin.
type process struct {
	program    *program
	cmd        *exec.Cmd // arguments and environment; it is not used to start
	root       string    // all its files are in here, and nobody else has access
	folder     string    // its socket is in here
	token      string
	stdout     *firstLine
	stderr     *stream
	words      *tail
	log        io.Writer // may be nil
	supervisor supervisor
	ended      chan struct{} // closed when nothing of the plugin is left
	ending     guard.Ending
	ordered    atomic.Bool
	begun      atomic.Bool // supervisor is set
}

// Start starts the plugin.
func (p *process) Start(context.Context) error {
	if err := guard.Trapped(p.program.path); err != nil {
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
		File: p.program.file, Stdout: outWriter, Stderr: errsWriter,
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
	p.stderr = newStream(errs, p.words)
	if p.log != nil {
		p.stderr.copy = io.MultiWriter(p.words, p.log)
	}
	go p.reap()
	return nil
}

// executable returns the path under which the program is started. On Linux it
// leads to the open file, which was checked, whatever has its name now; it ends
// in that name, which process lists and messages of scripts show.
func (p *process) executable() (string, error) {
	if _, err := os.Stat("/proc/self/fd"); err == nil && runtime.GOOS == "linux" {
		link := filepath.Join(p.root, filepath.Base(p.program.path))
		return link, os.Symlink("/proc/self/fd/3", link)
	}
	if p.program.script == nil {
		return p.program.path, nil
	}
	copied := filepath.Join(p.root, filepath.Base(p.program.path))
	return copied, os.WriteFile(copied, p.program.script, 0o700)
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
func (p *process) reap() {
	p.ending = p.supervisor.Wait()
	if p.ending.Unknown {
		killStragglers(p.token)
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

// end tells the plugin's supervisor to kill it.
func (p *process) end() {
	p.ordered.Store(true)
	if p.begun.Load() {
		p.supervisor.End()
	}
}

// endedAlone reports whether a plugin that has ended was not killed from here.
func (p *process) endedAlone() bool {
	s := p.ending.Status
	return !s.Signaled() || s.Signal() != syscall.SIGKILL || !p.ordered.Load()
}

// endState says how the plugin ended.
func (p *process) endState() string { return endingText(p.ending) }

// Kill ends the plugin, whatever state it is in, and waits until nothing of it
// is left.
func (p *process) Kill(context.Context) error {
	p.end()
	<-p.ended
	return nil
}

// Wait waits until nothing of the plugin is left.
func (p *process) Wait(context.Context) error {
	<-p.ended
	if s := p.ending.Status; !p.ending.Unknown && s.Exited() && s.ExitStatus() == 0 {
		return nil
	}
	return errors.New(p.endState())
}

// Stdout gives the first line of the output.
func (p *process) Stdout() io.ReadCloser { return p.stdout }

// Stderr gives the log.
func (p *process) Stderr() io.ReadCloser { return p.stderr }

// Name is the path of the program.
func (p *process) Name() string { return p.program.path }

// ID is the process number.
func (p *process) ID() string {
	if !p.begun.Load() {
		return ""
	}
	return strconv.Itoa(p.supervisor.Pid())
}

// Diagnose adds nothing: errors are made elsewhere.
func (p *process) Diagnose(context.Context) string { return "" }

// PluginToHost insists on a socket in the folder that is closed to others.
func (p *process) PluginToHost(network, address string) (string, string, error) {
	if network != "unix" || !strings.HasPrefix(address, p.folder+"/") || strings.Contains(address, "..") {
		return "", "", fmt.Errorf("it listens at %s %s, not at a socket in $PLUGIN_UNIX_SOCKET_DIR", quote(network), quote(address))
	}
	return network, address, nil
}

// HostToPlugin changes nothing.
func (p *process) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}
