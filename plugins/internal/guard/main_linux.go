package guard

import (
	"encoding/binary"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Run runs the guard if the process was started as a guard. It then ends the process without the exit handlers
// of the program. In other processes Run only notes that this program can run guards.
func Run() {
	if len(os.Args) > 0 && os.Args[0] == title && os.Getenv(mark) == version {
		run()
		syscall.Exit(0)
	}
	serves.Store(true)
}

// The minimum and maximum wait between two checks of children that were killed.
const (
	shortest = 100 * time.Microsecond
	longest  = 200 * time.Millisecond
)

// reaper is the state of the guard in the guard process.
type reaper struct {
	report   *os.File
	program  int
	killed   map[int]bool
	children chan os.Signal // SIGCHLD
	stop     chan struct{}  // closed when the host asks for the end or has ended
}

func run() {
	// The kernel kills the program at the end of the thread that started it,
	// which is that of the process.
	runtime.LockOSThread()
	// Signals are caught, not ignored, because the program would inherit ignored signals.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGPIPE)
	w := &reaper{
		report: os.NewFile(reportAt, "report"), killed: map[int]bool{},
		children: make(chan os.Signal, 1), stop: make(chan struct{}),
	}
	signal.Notify(w.children, syscall.SIGCHLD)
	closeInherited()
	if unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil {
		return
	}
	w.say(ready, 0)
	control := os.NewFile(controlAt, "control")
	p, host, ok := receive(control)
	if !ok {
		return
	}
	go w.watch(control, host)
	if w.start(p) {
		w.wait()
	}
	w.clear()
	os.RemoveAll(p.Dir)
}

// closeInherited closes file descriptors inherited from the host. Otherwise a pipe of
// the host would stay open until the guard ends.
func closeInherited() {
	names, err := list("/proc/self/fd")
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil || fd <= reportAt {
			continue
		}
		// Descriptors of the Go runtime have the flag FD_CLOEXEC.
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
	if err != nil {
		unix.CloseRange(reportAt+1, 1<<10, 0)
	}
	for fd := fileAt; fd <= reportAt; fd++ {
		unix.CloseOnExec(fd)
	}
}

func list(folder string) ([]string, error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// say writes a line of the report. It ignores errors, because the host may have ended.
func (w *reaper) say(word string, number int) {
	w.report.Write([]byte(word + " " + strconv.Itoa(number) + "\n"))
}

// receive reads the description of the program to start.
func receive(control io.Reader) (p Program, host int, ok bool) {
	var size [4]byte
	if _, err := io.ReadFull(control, size[:]); err != nil {
		return p, 0, false
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n > maxMessage {
		return p, 0, false
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(control, body); err != nil {
		return p, 0, false
	}
	return decode(body)
}

// watch closes stop when the host asks for it, closes the pipe or ends. A forked child
// of the host may hold the pipe open, so watch also watches the host process.
func (w *reaper) watch(control *os.File, host int) {
	order := make(chan struct{}, 2)
	go func() {
		control.Read(make([]byte, 1))
		order <- struct{}{}
	}()
	fd, err := unix.PidfdOpen(host, 0)
	if os.Getppid() != host {
		order <- struct{}{}
	} else if err == nil {
		go func() {
			for {
				n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
				if n > 0 || err != unix.EINTR {
					break
				}
			}
			order <- struct{}{}
		}()
	}
	<-order
	close(w.stop)
}

// start starts the program in its own process group.
func (w *reaper) start(p Program) bool {
	null, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		w.program, err = syscall.ForkExec(p.Path, p.Args, &syscall.ProcAttr{
			Dir: p.Dir, Env: p.Env, Files: []uintptr{uintptr(null), stdoutAt, stderrAt, fileAt},
			Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
		})
		unix.Close(null)
	}
	for _, fd := range []int{fileAt, stdoutAt, stderrAt} {
		unix.Close(fd)
	}
	if err != nil {
		number, _ := err.(syscall.Errno)
		w.say(failed, int(number))
		return false
	}
	w.say(started, w.program)
	return true
}

// wait returns when the program has ended or stop is closed.
func (w *reaper) wait() {
	for w.program != 0 {
		select {
		case <-w.children:
			w.reap()
		case <-w.stop:
			return
		}
	}
}

// reap waits for the children that have ended. It reports whether no child is left.
func (w *reaper) reap() (none bool) {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG|unix.WALL, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return true // ECHILD
		case pid == 0:
			return false
		case pid == w.program:
			w.program = 0
			w.say(ended, int(status))
		}
	}
}

// clear kills children until none is left. When a child is killed, its own children
// become children of the guard.
func (w *reaper) clear() {
	late := time.NewTimer(0)
	for pause := shortest; ; pause = min(2*pause, longest) {
		if w.kill() {
			pause = shortest
		}
		if w.reap() {
			return
		}
		late.Reset(pause)
		select {
		case <-w.children:
		case <-late.C:
		}
	}
}

// kill kills all current children and reports whether any of them is new. Their process IDs cannot
// have been reused, because only the guard waits for them. kill kills the process group of each child
// at the same moment, so that no member can fork and escape. The group holds descendants of the
// program only, because its whole session does.
func (w *reaper) kill() (news bool) {
	names, err := list("/proc")
	if err != nil && w.program != 0 {
		unix.Kill(-w.program, unix.SIGKILL)
	}
	self := os.Getpid()
	for i := range names {
		pid, err := strconv.Atoi(names[len(names)-1-i]) // the youngest child first
		if err != nil {
			continue
		}
		parent, group, alive := look(pid)
		if parent != self || !alive {
			continue
		}
		if group != self && group > 1 {
			unix.Kill(-group, unix.SIGKILL)
		}
		if unix.Kill(pid, unix.SIGKILL) == nil && !w.killed[pid] {
			w.killed[pid], news = true, true
		}
	}
	return news
}

// look returns the parent and the process group of a process, and whether it is still
// running.
func look(pid int) (parent, group int, alive bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, false
	}
	// The process name, in parentheses, may contain any characters.
	text := string(stat)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 3 {
		return 0, 0, false
	}
	parent, _ = strconv.Atoi(fields[1])
	group, _ = strconv.Atoi(fields[2])
	return parent, group, fields[0] != "Z"
}
