//go:build unix

package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/scqm/scqm/plugins/internal/guard"
)

// supervisor starts a plugin, and kills it together with its descendants.
type supervisor interface {
	// Pid returns the process ID of the plugin.
	Pid() int
	// End kills the plugin. It does not wait until the plugin has ended.
	End()
	// Wait waits until all processes and files of the plugin are gone. It returns how the plugin ended.
	Wait() guard.Ending
}

// keep starts the plugin under a guard, or under a shell if no guard can run.
func keep(p guard.Program, token string) (supervisor, error) {
	g, err := guard.Start(p)
	if err == nil {
		return g, nil
	}
	if !errors.Is(err, guard.ErrUnavailable) {
		return nil, err
	}
	return startShell(p, token)
}

// endingText describes an Ending in the format that package os uses.
func endingText(e guard.Ending) string {
	switch s := e.Status; {
	case e.Unknown:
		return "its guard was killed"
	case s.Exited():
		return fmt.Sprintf("exit status %d", s.ExitStatus())
	case s.CoreDump():
		return fmt.Sprintf("signal: %v (core dumped)", s.Signal())
	default:
		return fmt.Sprintf("signal: %v", s.Signal())
	}
}

// shellScript waits for the end of its standard input, which occurs when this process
// ends for any reason. Then it removes the folder of the plugin and kills the plugin.
// It finds descendants outside the process group by a token in their environment, and
// the others by the group, which includes the shell.
const shellScript = `trap '' HUP INT TERM
read -r _
rm -rf -- "$1"
for p in /proc/[0-9]*; do
	if grep -qsaF -- "$2" "$p/environ"; then kill -KILL "${p#/proc/}"; fi
done
kill -KILL 0`

// shell supervises a plugin in the process group of a shell, on systems where no guard
// can run. A descendant that leaves the group and clears its environment is not killed.
type shell struct {
	token   string
	ordered atomic.Bool // End was called
	plugin  *os.Process
	leash   *os.File   // when it is closed, the shell kills the plugin
	killing sync.Mutex // prevents a kill of the group after its ID is free for reuse
	shell   *exec.Cmd
}

func startShell(p guard.Program, token string) (*shell, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s := &shell{token: token, leash: w, shell: exec.Command("/bin/sh", "-c", shellScript, "scqm-plugin-guard", p.Dir, token)}
	s.shell.Env = []string{"PATH=/usr/bin:/bin"}
	s.shell.Stdin = r
	s.shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.shell.Start(); err != nil {
		w.Close()
		return nil, fmt.Errorf("start /bin/sh: %w", err)
	}
	null, err := os.Open(os.DevNull)
	if err == nil {
		defer null.Close()
		s.plugin, err = os.StartProcess(p.Path, p.Args, &os.ProcAttr{
			Dir: p.Dir, Env: p.Env, Files: []*os.File{null, p.Stdout, p.Stderr, p.File},
			Sys: &syscall.SysProcAttr{Setpgid: true, Pgid: s.shell.Process.Pid},
		})
	}
	if err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// Pid implements supervisor.
func (s *shell) Pid() int { return s.plugin.Pid }

// End kills the plugin and its descendants in the group. The ID of the group cannot
// have been reused, because the shell has this ID and was not waited for yet.
func (s *shell) End() {
	s.ordered.Store(true)
	s.killing.Lock()
	defer s.killing.Unlock()
	if s.shell != nil {
		syscall.Kill(-s.shell.Process.Pid, syscall.SIGKILL)
	}
}

// release kills the process group and waits for the shell.
func (s *shell) release() {
	s.End()
	s.killing.Lock()
	defer s.killing.Unlock()
	s.shell.Wait()
	s.shell = nil
	s.leash.Close()
}

// Wait implements supervisor.
func (s *shell) Wait() guard.Ending {
	state, err := s.plugin.Wait()
	ordered := s.ordered.Load()
	s.release()
	killOrphans(s.token)
	if err != nil {
		return guard.Ending{Unknown: true, Ordered: ordered}
	}
	return guard.Ending{Status: state.Sys().(syscall.WaitStatus), Ordered: ordered}
}
