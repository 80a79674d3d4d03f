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

// Run is the guard, in a process that was started as one: it does not return, and its end leaves out what the
// program does at its own. In other processes it notes that this program can be started as one.
func Run() {
	if len(os.Args) > 0 && os.Args[0] == title && os.Getenv(mark) == version {
		run()
		syscall.Exit(0)
	}
	serves.Store(true)
}

// Backoff between two looks at children that were killed.
const (
	shortest = 100 * time.Microsecond
	longest  = 200 * time.Millisecond
)

// reaper is the guard, in its own process.
type reaper struct {
	report   *os.File
	program  int
	killed   map[int]bool
	children chan os.Signal // SIGCHLD
	stop     chan struct{}  // closed by the host or its end
}

func run() {
	// The kernel kills the program at the end of the thread that started it,
	// which is that of the process.
	runtime.LockOSThread()
	// Caught, not ignored: the program would inherit that.
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

// closeInherited closes what the host has left open for its children: a pipe
// would not end before the guard.
func closeInherited() {
	names, err := list("/proc/self/fd")
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil || fd <= reportAt {
			continue
		}
		// Those of the runtime are marked.
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

// say reports; nobody listens where the host is gone.
func (w *reaper) say(word string, number int) {
	w.report.Write([]byte(word + " " + strconv.Itoa(number) + "\n"))
}

// receive reads what to start.
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

// watch closes stop when the host says so, closes the pipe or ends. A child that
// the host has forked may hold the pipe, so the host itself is watched too.
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

// start starts the program in a group of its own.
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

// wait returns when the program has ended, or when it is to end.
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

// reap takes the children that have ended. It reports whether none is left.
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

// clear kills children until there are none. A child that is killed leaves its
// own children to the guard.
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

// kill kills the children that there are, and reports whether any is new. Their
// numbers cannot have gone to others: nobody else waits for them. With a child
// goes its group, at one moment, so that nothing in it forks away. The group
// holds nobody else: all of its session has come from the program.
func (w *reaper) kill() (news bool) {
	names, err := list("/proc")
	if err != nil && w.program != 0 {
		unix.Kill(-w.program, unix.SIGKILL)
	}
	self := os.Getpid()
	for i := range names {
		pid, err := strconv.Atoi(names[len(names)-1-i]) // the youngest first
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

// look returns the parent and the group of a process, and whether it has not
// ended.
func look(pid int) (parent, group int, alive bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, false
	}
	// The name, in brackets, may hold anything.
	text := string(stat)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 3 {
		return 0, 0, false
	}
	parent, _ = strconv.Atoi(fields[1])
	group, _ = strconv.Atoi(fields[2])
	return parent, group, fields[0] != "Z"
}
