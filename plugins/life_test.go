package plugins

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/plugins/internal/executable"
)

// runs is how often each mode of the hostile plugin is tried, and other tests
// are scaled with it: 1, or $SCQM_PLUGIN_RUNS.
func runs(t testing.TB) int {
	t.Helper()
	text := os.Getenv("SCQM_PLUGIN_RUNS")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

const (
	// Deadlines of the modes that are to miss them. A busy machine can miss them
	// too, and earlier than the plugin wants to: they are then doubled.
	startDeadline = 2500 * time.Millisecond
	callDeadline  = 700 * time.Millisecond
	longest       = 2 * time.Minute
)

// misdeed is what a mode of the hostile plugin leads to. Kind nil: nothing.
type misdeed struct {
	mode string
	kind error
	says string // part of the error; LIMIT stands for the deadline
}

var atStart = []misdeed{
	{"exit 3", ErrStart, "ended (exit status 3) before it said where it listens"},
	{"exit 0", ErrStart, "ended (exit status 0) before it said where it listens"},
	{"panic", ErrStart, `its last words: "panic: no mood today`},
	{"hang", ErrTimeout, "did not say within LIMIT where it listens"},
	{"stop", ErrTimeout, "did not say within LIMIT where it listens"},
	{"close output, hang", ErrHandshake, "first line is not that of a plugin"},
	{"garbage line", ErrHandshake, `not that of a plugin: "hello world"`},
	{"binary garbage", ErrHandshake, `[2J"`},
	{"long line", ErrHandshake, "xxx"},
	{"wrong cookie", ErrStart, `its last words: "start me from elsewhere"`},
	{"wrong version", ErrVersion, "another version of the protocol than 1; rebuild it"},
	{"wrong core version", ErrVersion, "another version of the protocol than 1; rebuild it"},
	{"no number as version", ErrHandshake, "protocol version"},
	{"other transport", ErrHandshake, "netrpc"},
	{"address of network", ErrHandshake, "not at a socket in $PLUGIN_UNIX_SOCKET_DIR"},
	{"socket elsewhere", ErrHandshake, "not at a socket in $PLUGIN_UNIX_SOCKET_DIR"},
	{"socket above", ErrHandshake, "not at a socket in $PLUGIN_UNIX_SOCKET_DIR"},
	{"end after handshake", ErrCrashed, "describe: it ended (exit status 0)"},
	{"no socket", ErrReply, "describe: its connection does not work"},
	{"silent socket", ErrTimeout, "describe: no answer within LIMIT; it was killed"},
	{"socket closes", ErrReply, "describe: its connection does not work"},
	{"garbage on socket", ErrReply, "describe: its connection does not work"},
	{"stop after handshake", ErrTimeout, "describe: no answer within LIMIT; it was killed"},
	{"no service", ErrReply, "describe: its answer cannot be read"},
	{"hang in describe", ErrTimeout, "describe: no answer within LIMIT; it was killed"},
	{"name", ErrReply, `its name, "../etc/passwd", is not made of`},
	{"control characters", ErrReply, "is not one line of at most 1000 bytes"},
	{"no schema", ErrReply, "the schema cannot be used"},
	{"unknown schema", ErrReply, `unknown field "multipleOf"`},
	{"contradictory schema", ErrReply, "parameter c: the default = 1 is below 2"},
	{"long description", ErrReply, "its answer is too long"},
	{"hang in configure", ErrTimeout, "configure: no answer within LIMIT; it was killed"},
	{"unknown structure", ErrReply, "structure 17 is not known"},
	{"radial of one length", ErrReply, "rows of length 3 do not fit"},
	{"hang in attach", ErrTimeout, "attach: no answer within LIMIT; it was killed"},
	{"exit in attach", ErrCrashed, "attach: it ended (exit status 5)"},
}

var inCall = []misdeed{
	{"exit 3 in call", ErrCrashed, `evaluate: it ended (exit status 3); its last words: "out of luck"`},
	{"exit 0 in call", ErrCrashed, "evaluate: it ended (exit status 0)"},
	{"crash in call", ErrCrashed, `its last words: "panic: out of luck`},
	{"kills itself", ErrCrashed, "evaluate: it ended (signal: killed)"},
	{"hang in call", ErrTimeout, "evaluate: no answer within LIMIT; it was killed"},
	{"stop in call", ErrTimeout, "evaluate: no answer within LIMIT; it was killed"},
	{"slow", ErrTimeout, "evaluate: no answer within LIMIT; it was killed"},
	{"error", ErrRefused, `"not\x1b[2J today"`},
	{"false deadline", ErrReply, "it reports a deadline that has not passed"},
	{"NaN", ErrReply, "the value of row 0 is NaN for finite residuals"},
	{"infinite", ErrReply, "the value of row 0 is +Inf for finite residuals"},
	{"negative", ErrReply, "the value of row 0 is -1, and must be at least 0"},
	{"other rows", ErrReply, "it says that it evaluated 4 rows of 3"},
	{"logs a flood", nil, ""},
	{"prints a flood", nil, ""},
	{"cuts memory short", nil, ""},
	{"grandchild", nil, ""},
	{"grandchild of its own session", nil, ""},
	{"ignores the end", nil, ""},
	{"hangs at the end", nil, ""},
	{"hidden grandchild", nil, ""},
	{"exits beside a hidden grandchild", ErrCrashed, "evaluate: it ended (exit status 7)"},
	{"forks", nil, ""},
	{"kills its guard", ErrCrashed, "evaluate: it ended (its guard was killed)"},
	{"stops its guard", nil, ""},
}

// Some misdeeds need one of the ways of transport.
var inBytes = []misdeed{
	{"NaN", ErrReply, "the value of row 0 is NaN for finite residuals"},
	{"short", ErrReply, "the value has 23 bytes, want 24"},
	{"long", ErrReply, "the value has 25 bytes, want 24"},
	{"one array too few", ErrReply, "1 arrays came back, 2 were asked for"},
	{"far too long", ErrReply, "its answer is too long"},
}

var inFrames = []misdeed{
	{"frame socket elsewhere", ErrReply, "its frame socket: it listens at"},
	{"frame socket of gRPC", ErrReply, "its frame socket: it listens at"},
	{"no frame socket", ErrReply, "attach: its connection does not work"},
	{"frame socket closes", ErrReply, "evaluate: its connection does not work"},
	{"frame socket closes in call", ErrReply, "evaluate: its connection does not work"},
	{"silent frame socket", ErrTimeout, "evaluate: no answer within LIMIT; it was killed"},
	{"frame socket stops", ErrTimeout, "evaluate: no answer within LIMIT; it was killed"},
	{"garbage in a frame", ErrReply, "its answer is too long"},
	{"more than announced", ErrReply, "more bytes in a frame than it announced"},
	{"less than announced", ErrTimeout, "evaluate: no answer within LIMIT; it was killed"},
	{"unreadable reply", ErrReply, "its answer cannot be read"},
	{"refuses in a frame", ErrRefused, `"\x1b[2J"`},
	{"talks before the call", ErrReply, "more bytes in a frame than it announced"},
}

var inMemory = []misdeed{
	{"unwritten", ErrReply, "the value of row 0 was not written"},
	{"changes residuals", ErrReply, "the value of row 0 is NaN for finite residuals"},
}

// attempt opens the hostile plugin and evaluates a small batch.
func attempt(t *testing.T, mode string, o Options) (framework.Loss, error) {
	o.Env = append(o.Env, asPlugin+"=hostile:"+mode, mark(t))
	p, err := Open(t.Context(), self(t), o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	values, grad := make([]float64, 3), make([]float64, 6)
	err = p.Loss().Evaluate(values, grad, []float64{3, 4, 0, 0, -3, 4}, 2)
	if err == nil {
		assert.Equal(t, []float64{5, 0, 5}, values)
	}
	return p.Loss(), err
}

// try wants what the misdeed leads to; deadline is that of the start or of calls,
// whichever o sets.
func (m misdeed) try(t *testing.T, o Options, deadline time.Duration) {
	if m.kind != ErrTimeout { // it acts, at its own pace
		deadline = longest
	}
	if o.StartTimeout != 0 {
		o.StartTimeout = deadline
	}
	o.StartTimeout, o.CallTimeout = cmp.Or(o.StartTimeout, longest), deadline
	l, err := attempt(t, m.mode, o)
	if m.kind == nil {
		require.NoError(t, err)
		return
	}
	says := strings.ReplaceAll(m.says, "LIMIT", deadline.String())
	if errors.Is(err, ErrTimeout) && deadline < longest && !strings.Contains(err.Error(), says) {
		m.try(t, o, 2*deadline)
		return
	}
	assert.ErrorIs(t, err, m.kind)
	assert.ErrorContains(t, err, says)
	assert.NotContains(t, fmt.Sprint(err), "\n")
	assert.NotContains(t, fmt.Sprint(err), "\x1b")
	if l != nil {
		assert.Error(t, l.Evaluate(make([]float64, 1), nil, []float64{1}, 1))
	}
}

// TestSlowlyEnding: a plugin that ended is told from one that hung up also where clearing away after it takes
// longer than its end is waited for, as on slow machines.
func TestSlowlyEnding(t *testing.T) {
	defer func(before time.Duration) { endTime = before }(endTime)
	endTime = 0
	for _, m := range inCall {
		if m.kind == ErrCrashed && strings.Contains(m.says, "exit status") {
			t.Run(m.mode, func(t *testing.T) { m.try(t, Options{}, longest) })
		}
	}
}

func TestHostilePlugins(t *testing.T) {
	if testing.Short() {
		t.Skip("5 s: plugins that hang are waited for; make test runs it")
	}
	before := census(t)
	t.Run("all", func(t *testing.T) {
		parallel := func(group string, list []misdeed, o Options, deadline time.Duration) {
			for _, m := range list {
				t.Run(group+"/"+m.mode, func(t *testing.T) {
					t.Parallel()
					for range runs(t) {
						m.try(t, o, deadline)
					}
				})
			}
		}
		parallel("start", atStart, Options{StartTimeout: startDeadline}, startDeadline)
		parallel("call", inCall, Options{}, callDeadline)
		parallel("call by gRPC", inCall, Options{Env: []string{withoutFrames + "=1"}}, callDeadline)
		parallel("frames", inFrames, Options{}, callDeadline)
		parallel("bytes", inBytes, Options{NoSharedMemory: true}, callDeadline)
		parallel("memory", inMemory, Options{}, callDeadline)
	})
	before.sameAs(t)
}

// remains is what a plugin could leave behind.
type remains struct {
	processes, folders, files, goroutines int
}

func mark(t testing.TB) string {
	return fmt.Sprintf("SCQM_TEST_RUN=%d-%s", os.Getpid(), strings.Split(t.Name(), "/")[0])
}

// census counts them.
func census(t testing.TB) remains {
	t.Helper()
	count := func(pattern string) int {
		names, err := filepath.Glob(pattern)
		require.NoError(t, err)
		return len(names)
	}
	return remains{
		len(marked(mark(t))), count(fmt.Sprintf("/dev/shm/scqm-plugin-%d-*", os.Getpid())),
		count("/proc/self/fd/*"), runtime.NumGoroutine(),
	}
}

// marked lists the processes with a mark in their environment or arguments.
func marked(mark string) []string {
	pids := processes(mark)
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		if environment, err := os.ReadFile(file); err == nil && bytes.Contains(environment, []byte(mark)) {
			pids = append(pids, strings.Split(file, "/")[2])
		}
	}
	return pids
}

// sameAs waits a moment until nothing more is left than before.
func (r remains) sameAs(t testing.TB) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	var now remains
	for range 3000 {
		now = census(t)
		if now.processes <= r.processes && now.folders <= r.folders && now.files <= r.files && now.goroutines <= r.goroutines {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("left behind: %+v, before: %+v\n%s", now, r, stacks[:runtime.Stack(stacks, true)])
}

// TestHostileFiles starts none of the files that others could have changed, or
// that are no programs.
func TestHostileFiles(t *testing.T) {
	before := census(t)
	for range runs(t) {
		tryHostileFiles(t)
	}
	before.sameAs(t)
}

func tryHostileFiles(t *testing.T) {
	folder := t.TempDir()
	good := filepath.Join(folder, "good")
	script := "#!/bin/sh\ntouch " + filepath.Join(folder, "started") + "\n"
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	write("good", script, 0o755)
	link := filepath.Join(folder, "link")
	require.NoError(t, os.Symlink(good, link))
	open := filepath.Join(folder, "open")
	require.NoError(t, os.Mkdir(open, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(open, "file"), []byte(script), 0o755))
	require.NoError(t, os.Chmod(open, 0o777))
	foreign := "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x02\x00\xf3\x00" + strings.Repeat("\x00", 100)

	for _, c := range []struct {
		name, path string
		kind       error
		says       string
		sha256     string
	}{
		{"checksum", good, ErrChecksum, "its SHA-256 is", strings.Repeat("0", 64)},
		{"symbolic link", link, ErrUntrusted, "is a symbolic link", ""},
		{"not executable", write("dull", script, 0o644), ErrUntrusted, "is not executable; run chmod +x", ""},
		{"group writes", write("group", script, 0o775), ErrUntrusted, "others can write it (mode 0775); run chmod go-w", ""},
		{"all write", write("all", script, 0o757), ErrUntrusted, "others can write it (mode 0757); run chmod go-w", ""},
		{"folder", open, ErrUntrusted, "is not a regular file", ""},
		{"open folder", filepath.Join(open, "file"), ErrUntrusted, "everybody can replace files in the folder", ""},
		{"missing", filepath.Join(folder, "none"), ErrNotFound, "no such file", ""},
		{"other machine", write("foreign", foreign, 0o755), ErrStart, "neither a program for this machine nor a script", ""},
		{"no interpreter", write("lost", "#!/no/such/interpreter\n", 0o755), ErrStart, "its interpreter", ""},
		{"empty", write("empty", "", 0o755), ErrStart, "neither a program", ""},
	} {
		_, err := Open(t.Context(), c.path, Options{SHA256: c.sha256, StartTimeout: longest})
		assert.ErrorIs(t, err, c.kind, c.name)
		assert.ErrorContains(t, err, c.says, c.name)
		assert.NoFileExists(t, filepath.Join(folder, "started"), c.name)
	}
}

// TestHostileSwap exchanges the file between its check and its start, by name
// and in place: what runs is what was checked.
func TestHostileSwap(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the open file can be started on Linux only")
	}
	before := census(t)
	for range runs(t) {
		for _, swap := range []func(path, text string) error{
			func(path, text string) error {
				return errors.Join(os.WriteFile(path+".new", []byte(text), 0o755), os.Rename(path+".new", path))
			},
			func(path, text string) error { return os.WriteFile(path, []byte(text), 0o755) },
			func(path, _ string) error { return os.Remove(path) },
		} {
			trySwap(t, swap)
		}
	}
	before.sameAs(t)
}

func trySwap(t *testing.T, swap func(path, text string) error) {
	path := filepath.Join(t.TempDir(), "plugin")
	script := func(word string) string { return "#!/bin/sh\necho " + word + " >&2\n" }
	require.NoError(t, os.WriteFile(path, []byte(script("good")), 0o755))
	file, err := executable.Open(path, "")
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, swap(path, script("evil")))
	p := &Plugin{ctx: t.Context(), name: "x", options: Options{}.withDefaults()}
	err = p.start(file)
	require.NoError(t, p.Close())
	assert.ErrorContains(t, err, "good")
	assert.NotContains(t, err.Error(), "evil")
	_, err = Open(t.Context(), path, Options{SHA256: file.SHA256})
	assert.ErrorIs(t, err, framework.ErrInvalid)
}

func TestAPinnedPluginWorks(t *testing.T) {
	file, err := executable.Open(self(t), "")
	require.NoError(t, err)
	defer file.Close()
	p := start(t, "builtin:l2", Options{SHA256: strings.ToUpper(file.SHA256)})
	assert.Equal(t, file.SHA256, p.Loss().(rowloss.Identified).Program().SHA256)
}

// host is a host that never closes its plugin: a test kills it.
func host(mode string) {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	p, err := Open(context.Background(), path, Options{
		Env: []string{asPlugin + "=" + mode, os.Getenv(hostMark)}, StartTimeout: longest, CallTimeout: longest,
	})
	if err != nil {
		panic(err)
	}
	go p.Loss().Evaluate(make([]float64, 1), nil, []float64{1}, 1)
	time.Sleep(20 * time.Millisecond)
	fmt.Println("ready")
	hang()
}

const hostMark = "SCQM_TEST_HOST_MARK"

// TestKilledHost kills hosts with SIGKILL: nothing of their plugins is left,
// whatever the plugin is doing.
func TestKilledHost(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	before := census(t)
	modes := []string{
		"builtin:l2", "hostile:hang in call", "hostile:grandchild of its own session", "hostile:stop in call",
		"hostile:hidden grandchild", "hostile:forks", "hostile:stops its guard",
	}
	for i := range len(modes) * runs(t) {
		mode := modes[i%len(modes)]
		c := exec.Command(self(t))
		c.Env = append(os.Environ(), asPlugin+"=host:"+mode, hostMark+"="+mark(t))
		out, err := c.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, c.Start())
		line, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "ready\n", line)
		require.NotEmpty(t, marked(mark(t)))
		require.NoError(t, c.Process.Kill())
		assert.Error(t, c.Wait())
		folders := fmt.Sprintf("/dev/shm/scqm-plugin-%d-*", c.Process.Pid)
		assert.Eventually(t, func() bool {
			left, err := filepath.Glob(folders)
			return err == nil && len(left) == 0 && len(marked(mark(t))) == 0
		}, longest, 5*time.Millisecond, mode)
	}
	before.sameAs(t)
}

// TestManyLives starts and stops plugins and calls one often: memory must not
// grow.
func TestManyLives(t *testing.T) {
	cycles, calls := 10*runs(t), 1000*runs(t)
	r := normal(40)
	values, grad := make([]float64, 8), make([]float64, 40)
	live := func(p *Plugin, calls int) {
		for range calls {
			require.NoError(t, p.Loss().Evaluate(values, grad, r, 5))
		}
	}
	cycle := func(n int) {
		for range n {
			p, err := Open(t.Context(), self(t), Options{Env: []string{asPlugin + "=builtin:l2", mark(t)}})
			require.NoError(t, err)
			live(p, 2)
			require.NoError(t, p.Close())
		}
	}
	cycle(5)
	before, memory := census(t), resident(t, "self")
	cycle(cycles)
	before.sameAs(t)
	grown := resident(t, "self") - memory
	t.Logf("%d lives: memory grew by %d KiB", cycles, grown>>10)
	assert.Less(t, grown, 10<<20)

	p := start(t, "builtin:l2", Options{})
	live(p, 1000)
	memory, child := resident(t, "self"), resident(t, p.process.ID())
	live(p, calls)
	grown, grownChild := resident(t, "self")-memory, resident(t, p.process.ID())-child
	t.Logf("%d calls: memory grew by %d KiB in the host, %d KiB in the plugin", calls, grown>>10, grownChild>>10)
	assert.Less(t, grown, 10<<20)
	assert.Less(t, grownChild, 10<<20)
}

// resident is the memory of a process in bytes, after collection in this one.
func resident(t testing.TB, pid string) int {
	t.Helper()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/" + pid + "/statm")
	if err != nil {
		t.Skip("needs /proc")
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	require.NoError(t, err)
	return pages * os.Getpagesize()
}

// TestCancel ends starts and calls with the context.
func TestCancel(t *testing.T) {
	before := census(t)
	for _, mode := range []string{"hang", "hang in describe", "hang in call"} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(300*time.Millisecond, cancel)
		p, err := Open(ctx, self(t), Options{Env: []string{asPlugin + "=hostile:" + mode, mark(t)}, StartTimeout: longest, CallTimeout: longest})
		if err == nil {
			err = p.Loss().Evaluate(make([]float64, 1), nil, []float64{1}, 1)
			require.NoError(t, p.Close())
		}
		assert.ErrorIs(t, err, context.Canceled, mode)
	}
	before.sameAs(t)
}

// TestCancelAmongCalls cancels while calls of other lengths follow each other:
// none takes the reply of another for its own.
func TestCancelAmongCalls(t *testing.T) {
	for round := range 8 {
		ctx, cancel := context.WithCancel(t.Context())
		p, err := Open(ctx, self(t), Options{Env: []string{asPlugin + "=builtin:l2", mark(t)}, StartTimeout: longest, CallTimeout: longest})
		require.NoError(t, err)
		time.AfterFunc(time.Duration(round)*time.Millisecond, cancel)
		loss := p.Loss()
		for rows, after := 1, 0; after < 100; rows = rows%17 + 1 {
			err := loss.Evaluate(make([]float64, rows), nil, make([]float64, rows), 1)
			if err != nil {
				require.ErrorIs(t, err, context.Canceled)
				after++
			}
		}
		require.NoError(t, p.Close())
	}
}

func TestClosedPlugin(t *testing.T) {
	p := start(t, "builtin:l2", Options{})
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	assert.ErrorIs(t, p.Loss().Evaluate(make([]float64, 1), nil, []float64{1}, 1), ErrClosed)
}
