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
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// guardScript waits until its standard input ends, which it does when this
// process ends, by whatever cause. It then removes the folder of the plugin and
// kills the plugin: those that left the process group are known by a token in
// their environment, the others by the group, to which the guard belongs too.
const guardScript = `trap '' HUP INT TERM
read -r _
rm -rf -- "$1"
for p in /proc/[0-9]*; do
	if grep -qsaF -- "$2" "$p/environ"; then kill -KILL "${p#/proc/}"; fi
done
kill -KILL 0`

// drainTime is how long the output of a plugin that has ended is waited for.
const drainTime = 200 * time.Millisecond

// process is a plugin that runs in a process group of its own. It implements
// the Runner of go-plugin.
type process struct {
	program  *program
	cmd      *exec.Cmd
	root     string // all its files are in here, and nobody else has access
	folder   string // its socket is in here
	token    string
	pinned   bool // start the open file and not what now has its name
	stdout   *firstLine
	stderr   *stream
	words    *tail
	guard    *exec.Cmd
	log      io.Writer     // may be nil
	leash    *os.File      // the guard acts when this is closed
	ended    chan struct{} // closed when nothing of the plugin is left
	endState *os.ProcessState
	killing  sync.Mutex // guards guard: its group must not be killed after its number is free
	ordered  atomic.Bool
}

// Start starts the guard, then the plugin in the guard's group.
func (p *process) Start(context.Context) error {
	if err := p.startGuard(); err != nil {
		return fmt.Errorf("start /bin/sh: %w", err)
	}
	if err := p.startPlugin(); err != nil {
		p.signalGroup()
		p.releaseGuard()
		p.leash.Close()
		return startFailure(err)
	}
	go p.reap()
	return nil
}

func (p *process) startGuard() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	p.leash = w
	guard := exec.Command("/bin/sh", "-c", guardScript, "scqm-plugin-guard", p.root, p.token)
	guard.Env = []string{"PATH=/usr/bin:/bin"}
	guard.Stdin = r
	guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.killing.Lock()
	defer p.killing.Unlock()
	if err := guard.Start(); err != nil {
		w.Close()
		return err
	}
	p.guard = guard
	return nil
}

func (p *process) startPlugin() error {
	out, outWriter, err := os.Pipe()
	if err != nil {
		return err
	}
	errs, errsWriter, err := os.Pipe()
	if err != nil {
		return errors.Join(err, out.Close(), outWriter.Close())
	}
	defer outWriter.Close()
	defer errsWriter.Close()
	p.cmd.Stdin = nil
	p.cmd.Stdout, p.cmd.Stderr = outWriter, errsWriter
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: p.guard.Process.Pid}
	if p.pinned && runtime.GOOS == "linux" {
		p.cmd.ExtraFiles = []*os.File{p.program.file}
		p.cmd.Path = "/proc/self/fd/3"
	}
	if err := p.cmd.Start(); err != nil {
		return errors.Join(err, out.Close(), errs.Close())
	}
	p.stdout = &firstLine{stream: newStream(out, nil)}
	p.stderr = newStream(errs, p.words)
	if p.log != nil {
		p.stderr.copy = io.MultiWriter(p.words, p.log)
	}
	return nil
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
	p.cmd.Wait()
	p.endState = p.cmd.ProcessState
	p.signalGroup()
	p.releaseGuard()
	p.leash.Close()
	killStragglers(p.token)
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

// killGroup ends the plugin.
func (p *process) killGroup() {
	p.ordered.Store(true)
	p.signalGroup()
}

// endedAlone reports whether a plugin that has ended was not killed from here.
func (p *process) endedAlone() bool {
	status, ok := p.endState.Sys().(syscall.WaitStatus)
	return !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL || !p.ordered.Load()
}

// signalGroup kills the plugin and all its offspring in the group. The number
// of the group cannot belong to others: the guard bears it and is still waited
// for.
func (p *process) signalGroup() {
	p.killing.Lock()
	defer p.killing.Unlock()
	if p.guard != nil {
		syscall.Kill(-p.guard.Process.Pid, syscall.SIGKILL)
	}
}

// releaseGuard waits for the guard that killGroup has killed.
func (p *process) releaseGuard() {
	p.killing.Lock()
	defer p.killing.Unlock()
	p.guard.Wait()
	p.guard = nil
}

// Kill ends the plugin, whatever state it is in, and waits until nothing of it
// is left.
func (p *process) Kill(context.Context) error {
	p.killGroup()
	<-p.ended
	return nil
}

// Wait waits until nothing of the plugin is left.
func (p *process) Wait(context.Context) error {
	<-p.ended
	if p.endState.Success() {
		return nil
	}
	return errors.New(p.endState.String())
}

// Stdout gives the first line of the output.
func (p *process) Stdout() io.ReadCloser { return p.stdout }

// Stderr gives the log.
func (p *process) Stderr() io.ReadCloser { return p.stderr }

// Name is the path of the program.
func (p *process) Name() string { return p.program.path }

// ID is the process number.
func (p *process) ID() string {
	if p.cmd.Process == nil {
		return ""
	}
	return strconv.Itoa(p.cmd.Process.Pid)
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
