package guard

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// patience is the time after which a guard that does not obey is killed. It is also
	// the maximum wait for the processes that the guard kills. A guard needs some
	// milliseconds; a process that hangs in the kernel may need any time.
	patience = 10 * time.Second
	// insistence is the interval at which the host sends SIGCONT to a guard, which the
	// program may have stopped.
	insistence = 100 * time.Millisecond
)

// Guard is the host's handle of a guard process and its program.
type Guard struct {
	process *os.Process
	pid     int
	control *os.File
	report  *os.File
	lines   *bufio.Reader
	order   sync.Once
	ordered atomic.Bool            // End was called
	ending  atomic.Pointer[Ending] // nil until the program has ended
	gone    chan struct{}          // closed when nobody waits for the guard any more
	leave   sync.Once              // ensures that gone is closed once
}

// Start starts a guard, which starts the program p. The error is [ErrUnavailable], or
// the syscall.Errno because of which the program does not start.
func Start(p Program) (*Guard, error) {
	path := host()
	if path == "" {
		return nil, ErrUnavailable
	}
	g := &Guard{gone: make(chan struct{})}
	if err := g.run(path, p); err != nil {
		return nil, err
	}
	if err := g.introduce(p); err != nil {
		g.control.Close()
		g.process.Kill()
		g.process.Wait()
		g.report.Close()
		return nil, err
	}
	go g.watch()
	return g, nil
}

// host returns the path of the program that runs guards, or "" if there is none.
func host() string {
	if path := executable.Load(); path != nil && *path != "" {
		return *path
	}
	if serves.Load() {
		return "/proc/self/exe"
	}
	return ""
}

// run starts the guard in a session of its own. Signals of the terminal then do not
// reach it, and every other process in that session descends from the program.
func (g *Guard) run(path string, p Program) error {
	control, controlWriter, err := os.Pipe()
	if err != nil {
		return err
	}
	defer control.Close()
	reportReader, report, err := os.Pipe()
	if err != nil {
		controlWriter.Close()
		return err
	}
	defer report.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err == nil {
		defer null.Close()
		g.process, err = os.StartProcess(path, []string{title}, &os.ProcAttr{
			Dir: "/", Env: []string{mark + "=" + version, "GOMAXPROCS=2"},
			Files: []*os.File{null, null, null, p.File, p.Stdout, p.Stderr, control, report},
			// The kernel sends SIGCONT when the host dies, in case the program has stopped the guard.
			Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGCONT},
		})
		if err != nil {
			err = ErrUnavailable
		}
	}
	if err != nil {
		controlWriter.Close()
		reportReader.Close()
		return err
	}
	g.control, g.report, g.lines = controlWriter, reportReader, bufio.NewReader(reportReader)
	return nil
}

// introduce sends the guard the program to start, and waits until it has started.
func (g *Guard) introduce(p Program) error {
	if word, _ := g.line(); word != ready {
		return ErrUnavailable
	}
	if _, err := g.control.Write(encode(p, os.Getpid())); err != nil {
		return ErrUnavailable
	}
	word, number := g.line()
	switch word {
	case started:
		g.pid = number
		return nil
	case failed:
		return syscall.Errno(number)
	default:
		return fmt.Errorf("its guard ended: %w", io.ErrUnexpectedEOF)
	}
}

// line reads one line of the guard's report: a word and a number. At the end of the report the word is empty.
func (g *Guard) line() (word string, number int) {
	line, err := g.lines.ReadString('\n')
	if err != nil {
		return "", 0
	}
	word, digits, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	number, err = strconv.Atoi(digits)
	if err != nil && digits != "" {
		return "", 0
	}
	return word, number
}

// watch reads the guard's report until it ends.
func (g *Guard) watch() {
	for word, number := g.line(); word != ""; word, number = g.line() {
		if word == ended {
			g.ending.Store(&Ending{Status: syscall.WaitStatus(number), Ordered: g.ordered.Load()})
			g.End() // the guard ends by itself unless it is stopped
		}
	}
	g.process.Wait()
	g.report.Close()
	g.ending.CompareAndSwap(nil, &Ending{Unknown: true, Ordered: g.ordered.Load()})
	g.leave.Do(func() { close(g.gone) })
	g.End()
}

// Pid returns the process ID of the program.
func (g *Guard) Pid() int { return g.pid }

// End tells the guard to kill the program and its descendants. It does not wait for
// their end.
func (g *Guard) End() {
	g.ordered.Store(true)
	g.order.Do(func() {
		g.control.Write([]byte{'\n'})
		g.control.Close()
		go g.insist()
	})
}

// insist wakes a guard repeatedly and kills one that does not obey; the program then
// dies too. If the guard has already killed the program, it is waiting for a process
// that cannot be killed at once. The guard then continues without the host.
func (g *Guard) insist() {
	again, late := time.NewTicker(insistence), time.NewTimer(patience)
	defer again.Stop()
	defer late.Stop()
	for {
		g.process.Signal(syscall.SIGCONT)
		select {
		case <-g.gone:
			return
		case <-late.C:
			if g.ending.Load() == nil {
				g.process.Kill()
				return
			}
			g.leave.Do(func() { close(g.gone) })
			return
		case <-again.C:
		}
	}
}

// Wait returns how the program ended. It waits until all descendants of the program
// have ended or cannot be killed.
func (g *Guard) Wait() Ending {
	<-g.gone
	return *g.ending.Load()
}
