package plugins

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/scqm/scqm/plugins/protocol"
)

// This file is the hostile plugin: the test binary with SCQM_TEST_PLUGIN set to
// hostile:MODE. The modes of beginnings misbehave before they serve, those of
// services in the calls of the protocol.

func hostile(mode string) {
	if begin, ok := beginnings[mode]; ok {
		begin()
		os.Exit(0)
	}
	s, err := newService(builtin("l2"))
	if err != nil {
		panic(err)
	}
	server := protocol.LossServer(&hostileService{service: s, mode: mode})
	if bad, ok := frameSockets[mode]; ok {
		server, err = bad.replace(server)
	} else if os.Getenv(withoutFrames) == "" {
		server, err = withFrames(server)
	}
	if err != nil {
		panic(err)
	}
	serve(server)
}

// withoutFrames in the environment makes the hostile plugin offer no socket for
// frames.
const withoutFrames = "SCQM_TEST_WITHOUT_FRAMES"

// badSocket is a socket for frames of which the plugin says that it is at a path,
// and what listens in its folder under the name frames.
type badSocket struct {
	path string // "": there
	with func(net.Conn)
}

var frameSockets = map[string]badSocket{
	"frame socket elsewhere":      {"/tmp/hostile", nil},
	"frame socket of gRPC":        {"plugin", nil},
	"no frame socket":             {"", nil},
	"frame socket closes":         {"", func(c net.Conn) { c.Close() }},
	"frame socket closes in call": {"", answer(nil, func(c net.Conn) { c.Close() })},
	"silent frame socket":         {"", hold},
	"frame socket stops":          {"", answer([]byte{2, 0, 0}, hold)},
	"garbage in a frame":          {"", answer([]byte("garbage garbage"), hold)},
	"more than announced":         {"", answer([]byte{0, 0, 0, 0, 0, 0, 0, 0, 8, 3}, hold)},
	"less than announced":         {"", answer([]byte{9, 0, 0, 0, 0, 0, 0, 0, 8, 3}, hold)},
	"unreadable reply":            {"", answer([]byte{2, 0, 0, 0, 0, 0, 0, 0, 8, 255}, hold)},
	"refuses in a frame":          {"", answer([]byte("\x04\x00\x00\x00\x02\x00\x00\x00\x1b[2J"), hold)},
	"talks before the call":       {"", func(c net.Conn) { c.Write(make([]byte, 4<<10)); hold(c) }},
}

// hold keeps a connection open: one that nobody uses is closed by the garbage
// collector.
func hold(c net.Conn) { io.Copy(io.Discard, c) }

// answer reads a frame and writes something, then does more.
func answer(reply []byte, then func(net.Conn)) func(net.Conn) {
	return func(c net.Conn) {
		header := make([]byte, 4)
		if _, err := io.ReadFull(c, header); err != nil {
			return
		}
		if _, err := io.CopyN(io.Discard, c, int64(binary.LittleEndian.Uint32(header))); err != nil {
			return
		}
		c.Write(reply)
		then(c)
	}
}

func (b badSocket) replace(s protocol.LossServer) (protocol.LossServer, error) {
	f := &framed{s, cmp.Or(b.path, filepath.Join(os.Getenv(socketFolderKey), "frames"))}
	if b.with == nil {
		return f, nil
	}
	listener, err := net.Listen("unix", f.path)
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go b.with(conn)
		}
	}()
	return f, nil
}

func hang() { select {} }

func stop() { syscall.Kill(os.Getpid(), syscall.SIGSTOP); hang() }

// say prints a handshake line.
func say(core, version, network, address, kind string) {
	fmt.Printf("%s|%s|%s|%s|%s|\n", core, version, network, address, kind)
}

func socketPath() string { return filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "hostile") }

// listen says the handshake and hands every connection to a function.
func listen(with func(net.Conn)) {
	l, err := net.Listen("unix", socketPath())
	if err != nil {
		panic(err)
	}
	say("1", "1", "unix", socketPath(), "grpc")
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		go with(c)
	}
}

var beginnings = map[string]func(){
	"exit 3":               func() { os.Exit(3) },
	"exit 0":               func() {},
	"panic":                func() { panic("no mood today") },
	"hang":                 hang,
	"stop":                 stop,
	"close output, hang":   func() { os.Stdout.Close(); hang() },
	"garbage line":         func() { fmt.Println("hello world"); hang() },
	"binary garbage":       func() { os.Stdout.Write([]byte{0, 255, 27, '[', '2', 'J', '\n'}); hang() },
	"long line":            func() { fmt.Print(strings.Repeat("x", 1<<20)); hang() },
	"wrong cookie":         func() { fmt.Fprintln(os.Stderr, "start me from elsewhere"); os.Exit(1) },
	"wrong version":        func() { say("1", "2", "unix", socketPath(), "grpc"); hang() },
	"wrong core version":   func() { say("9", "1", "unix", socketPath(), "grpc"); hang() },
	"no number as version": func() { say("1", "one", "unix", socketPath(), "grpc"); hang() },
	"other transport":      func() { say("1", "1", "unix", socketPath(), "netrpc"); hang() },
	"address of network":   func() { say("1", "1", "tcp", "127.0.0.1:1", "grpc"); hang() },
	"socket elsewhere":     func() { say("1", "1", "unix", "/tmp/hostile", "grpc"); hang() },
	"socket above":         func() { say("1", "1", "unix", filepath.Dir(socketPath())+"/../x", "grpc"); hang() },
	"end after handshake":  func() { say("1", "1", "unix", socketPath(), "grpc") },
	"no socket":            func() { say("1", "1", "unix", socketPath(), "grpc"); hang() },
	"silent socket":        func() { listen(hold) },
	"socket closes":        func() { listen(func(c net.Conn) { c.Close() }) },
	"garbage on socket":    func() { listen(func(c net.Conn) { io.WriteString(c, strings.Repeat("garbage ", 1000)) }) },
	"stop after handshake": func() { listen(func(net.Conn) { stop() }) },
	"no service":           func() { serveAlone(grpc.NewServer()) },
	"ignores the end": func() {
		serveAlone(withLoss(grpc.UnknownServiceHandler(func(any, grpc.ServerStream) error { return nil })))
	},
	"hangs at the end": func() {
		serveAlone(withLoss(grpc.UnknownServiceHandler(func(any, grpc.ServerStream) error { hang(); return nil })))
	},
}

// withLoss is a server of a good loss that knows nothing else, and cannot be
// told to end.
func withLoss(o grpc.ServerOption) *grpc.Server {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	s, err := newService(builtin("l2"))
	if err != nil {
		panic(err)
	}
	server := grpc.NewServer(o)
	protocol.RegisterLossServer(server, s)
	return server
}

func serveAlone(s *grpc.Server) {
	l, err := net.Listen("unix", socketPath())
	if err != nil {
		panic(err)
	}
	say("1", "1", "unix", socketPath(), "grpc")
	panic(s.Serve(l))
}

// hostileService is a good service with one bad habit.
type hostileService struct {
	*service
	mode string
}

func (s *hostileService) Describe(ctx context.Context, r *protocol.DescribeRequest) (*protocol.DescribeResponse, error) {
	reply, err := s.service.Describe(ctx, r)
	switch s.mode {
	case "hang in describe":
		hang()
	case "name":
		reply.Name = "../etc/passwd"
	case "control characters":
		reply.Summary = "\x1b[2J"
	case "no schema":
		reply.Schema = "{"
	case "unknown schema":
		reply.Schema = `{"type": "object", "properties": {"c": {"type": "number", "multipleOf": 2}}}`
	case "contradictory schema":
		reply.Schema = `{"type": "object", "properties": {"c": {"type": "number", "default": 1, "minimum": 2}}}`
	case "long description":
		reply.Formula = strings.Repeat("x", 8<<20)
	}
	return reply, err
}

func (s *hostileService) Configure(ctx context.Context, r *protocol.ConfigureRequest) (*protocol.ConfigureResponse, error) {
	reply, err := s.service.Configure(ctx, r)
	switch s.mode {
	case "hang in configure":
		hang()
	case "unknown structure":
		reply.Structure = 17
	case "radial of one length":
		reply.Dim = 3
	case "claims smoothing", "claims weights only":
		reply.Structure = protocol.Structure_STRUCTURE_BLACK_BOX
	case "grandchild", "grandchild of its own session":
		leaveGrandchild(s.mode != "grandchild")
	case "hidden grandchild", "exits beside a hidden grandchild":
		leaveHidden()
	case "forks":
		leaveForking()
	case "stops its guard":
		leaveHidden()
		syscall.Kill(os.Getppid(), syscall.SIGSTOP)
	}
	return reply, err
}

// hidden in front of the mark of a test, as argument, makes the test binary a
// process that wants to stay: stage 1 starts stage 2 and ends.
const (
	hiddenFirst  = "hidden-grandchild-1"
	hiddenSecond = "hidden-grandchild-2"
)

// hide is what a hidden grandchild does.
func hide(stage, mark string) {
	if stage == hiddenFirst {
		startHidden(hiddenSecond, mark)
		os.Exit(0)
	}
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP)
	hang()
}

// startHidden starts a stage in a session of its own, with an empty environment
// and no open file. Only its arguments tell the test who it is.
func startHidden(stage, mark string) {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	_, err = os.StartProcess(self, []string{"nothing", stage, mark}, &os.ProcAttr{
		Dir: "/", Env: []string{}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		panic(err)
	}
}

// runMark is the mark of the test in the environment of the plugin.
func runMark() string { return "SCQM_TEST_RUN=" + os.Getenv("SCQM_TEST_RUN") }

// leaveHidden returns when the process that is to stay has lost its parent.
func leaveHidden() {
	startHidden(hiddenFirst, runMark())
	waitHidden()
}

func waitHidden() {
	for len(processes(hiddenSecond+"\x00"+runMark())) == 0 || len(processes(hiddenFirst+"\x00"+runMark())) > 0 {
		time.Sleep(time.Millisecond)
	}
}

// processes lists the processes whose arguments hold a text, but for those that
// have ended.
func processes(text string) []string {
	var pids []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if arguments, err := os.ReadFile(file); err == nil && strings.Contains(string(arguments), text) {
			pids = append(pids, strings.Split(file, "/")[2])
		}
	}
	return pids
}

// chainScript forks and ends, again and again: so does each child, and the last
// one wants to stay.
const chainScript = `link() {
	if [ "$1" -gt 0 ]; then ( link $(($1 - 1)) ) & else exec "$2" "$3" "$4"; fi
}
link "$@"`

// leaveForking starts such a chain, and returns while it is forking.
func leaveForking() {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	_, err = os.StartProcess("/bin/sh", []string{"sh", "-c", chainScript, "chain", "3000", self, hiddenSecond, runMark()},
		&os.ProcAttr{Dir: "/", Env: []string{}, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		panic(err)
	}
}

// leaveGrandchild starts a process that holds on to what it inherits.
func leaveGrandchild(session bool) {
	c := exec.Command("/bin/sleep", "1000")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	if err := c.Start(); err != nil {
		panic(err)
	}
}

func (s *hostileService) Attach(ctx context.Context, r *protocol.AttachRequest) (*protocol.AttachResponse, error) {
	switch s.mode {
	case "hang in attach":
		hang()
	case "exit in attach":
		os.Exit(5)
	case "cuts memory short":
		if f, err := os.OpenFile(r.Path, os.O_RDWR, 0); err != nil || f.Truncate(0) == nil {
			panic("the segment could be cut short")
		}
	}
	return s.service.Attach(ctx, r)
}

func (s *hostileService) Evaluate(ctx context.Context, r *protocol.EvaluateRequest) (*protocol.EvaluateResponse, error) {
	switch s.mode {
	case "exit 3 in call":
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(3)
	case "exit 0 in call":
		os.Exit(0)
	case "crash in call":
		go panic("out of luck")
		hang()
	case "kills itself":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "exits beside a hidden grandchild":
		os.Exit(7)
	case "kills its guard":
		leaveGrandchild(true)
		syscall.Kill(os.Getppid(), syscall.SIGKILL)
		hang()
	case "hang in call":
		hang()
	case "stop in call":
		stop()
	case "slow":
		time.Sleep(time.Hour)
	case "error":
		return nil, status.Error(codes.Unknown, "not\x1b[2J today")
	case "false deadline":
		return nil, status.Error(codes.DeadlineExceeded, "")
	case "logs a flood":
		flood(os.Stderr)
	case "prints a flood":
		flood(os.Stdout)
	case "unwritten":
		return &protocol.EvaluateResponse{Rows: r.Rows}, nil
	}
	reply, err := s.service.Evaluate(ctx, r)
	if err == nil {
		s.spoil(r, reply)
	}
	return reply, err
}

// spoil changes a good reply.
func (s *hostileService) spoil(r *protocol.EvaluateRequest, reply *protocol.EvaluateResponse) {
	number := func(v float64) {
		if segment := s.segments[r.Segment]; segment != nil {
			at := (int(r.Rows)*int(r.Dim)*wordBytes + 63) / 64 * 64
			segment.Floats(at, 1)[0] = v
			return
		}
		copy(reply.Results[0], toBytes([]float64{v}))
	}
	switch s.mode {
	case "NaN":
		number(math.NaN())
	case "infinite":
		number(math.Inf(1))
	case "negative":
		number(-1)
	case "short":
		reply.Results[0] = reply.Results[0][1:]
	case "long":
		reply.Results[0] = append(reply.Results[0], 0)
	case "one array too few":
		reply.Results = reply.Results[1:]
	case "far too long":
		reply.Results[0] = make([]byte, 32<<20)
	case "other rows":
		reply.Rows++
	case "changes residuals":
		if segment := s.segments[r.Segment]; segment != nil {
			segment.Floats(0, 1)[0] = 1e300
		}
		number(math.NaN())
	}
}

func flood(f *os.File) {
	line := strings.Repeat("x", 1<<16) + "\n"
	for range 64 {
		io.WriteString(f, line)
	}
}
