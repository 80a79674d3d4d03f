package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// hangs is the time after which a command counts as hanging: a hundred times what any needs.
const hangs = 10 * time.Minute

// bench holds what all drills share: the program, built once, and valid files.
type bench struct {
	settings
	place string // a temporary directory
	// interrupted is done after Ctrl-C. Running cases then finish, and the table is printed.
	interrupted context.Context

	scqm     string              // built as go build does
	released string              // built as for a release, without cgo
	happened func(what string)   // counts events in cases
	done     map[string]finished // results of undisturbed tasks, by command
}

func newBench(ctx context.Context, s settings, place string) (*bench, error) {
	b := &bench{interrupted: ctx, settings: s, place: place, scqm: filepath.Join(place, "scqm"), happened: func(string) {}, done: map[string]finished{}}
	if s.python == "" {
		b.python = ".venv/bin/python"
	}
	if path, err := filepath.Abs(b.python); err == nil {
		b.python = path
	}
	b.released = b.path("scqm-released")
	return b, errors.Join(
		b.build(nil, "-o", b.scqm, "./cmd/scqm"),
		b.build([]string{"CGO_ENABLED=0"}, "-ldflags="+entryPoint(), "-o", b.released, "./cmd/scqm"),
		b.build(nil, "-o", b.path("scqm-loss-tukey"), "./plugins/examples/tukey"),
		b.makeFixtures(),
	)
}

// entryPoint returns the linker option of code that runs before Go, if this system has it.
func entryPoint() string {
	if runtime.GOOS == "linux" && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64") {
		return "-E=_scqm_entry"
	}
	return ""
}

func (b *bench) build(env []string, args ...string) error {
	cmd := exec.Command("go", append([]string{"build", "-buildvcs=false"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

func (b *bench) path(name string) string { return filepath.Join(b.place, name) }

// run is the result of a program that has ended.
type run struct {
	code           int // 128 + n after signal n
	signalled      bool
	stdout, stderr string
}

// command says how to start a program.
type command struct {
	program string   // the program; "" means scqm, from go build in even cases, as released in odd cases
	before  string   // shell commands to run before it, such as ulimit
	env     []string // environment variables in addition to those of this process
	// disturb is called while the program runs; its error ends the case.
	disturb func(p *os.Process) error
}

// scqmRun runs scqm in the directory of the case.
func (c *trial) scqmRun(args ...string) (run, error) { return c.run(command{}, args...) }

// run starts a program in the directory of the case and waits for it to end. It returns an
// error if the program hangs or cannot be started.
func (c *trial) run(how command, args ...string) (run, error) {
	program := how.program
	if program == "" {
		program = []string{c.scqm, c.released}[c.index%2]
	}
	line := append([]string{program}, args...)
	if how.before != "" {
		line = append([]string{"/bin/sh", "-c", how.before + `; exec "$0" "$@"`}, line...)
	}
	c.say(how, line)
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, &stdout, &stderr
	cmd.Env = append(os.Environ(), how.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // out of reach of Ctrl-C
	cmd.WaitDelay = time.Minute                           // for what it started and left behind
	if err := cmd.Start(); err != nil {
		return run{}, err
	}
	var disturbed error
	if how.disturb != nil {
		disturbed = how.disturb(cmd.Process)
	}
	err := cmd.Wait()
	r := run{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		r.code, r.signalled = 128+int(status.Signal()), true
	}
	switch {
	case ctx.Err() != nil:
		return r, fmt.Errorf("did not end within %v", hangs)
	case errors.Is(err, exec.ErrWaitDelay):
		return r, errors.New("left a process behind that holds its output")
	case disturbed != nil:
		return r, disturbed
	}
	return r, nil
}

// say records a command line for the report of a failure.
func (c *trial) say(how command, line []string) {
	quoted := make([]string, len(line))
	for i, word := range line {
		quoted[i] = word
		if strings.ContainsAny(word, " \t\n\"'$;&|*?\\<>()[]{}") || word == "" {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	c.said = append(c.said, fmt.Sprintf("ran: %s\n", strings.Join(slices.Concat(how.env, quoted), " ")))
}

// traces matches output that a program must never print.
var traces = regexp.MustCompile(`(?m)^(panic:|fatal error:|runtime: |goroutine \d+ \[|SIG[A-Z]+: |Traceback \(most)|\[recovered\]|core dumped`)

// check returns an error unless the exit code is one of codes and no trace was printed. If
// the code is not 0, the last line must begin with scqm and be short.
func (r run) check(codes ...int) error {
	if m := traces.FindString(r.stderr + r.stdout); m != "" {
		return fmt.Errorf("a trace (%q) with exit code %d:\n%s", m, r.code, clip(r.stderr))
	}
	if !slices.Contains(codes, r.code) {
		return fmt.Errorf("exit code %d, want one of %v; on stderr:\n%s", r.code, codes, clip(r.stderr))
	}
	if r.code == 0 || r.signalled {
		return nil
	}
	lines := strings.Split(strings.TrimRight(r.stderr, "\n"), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, "scqm: ") {
		return fmt.Errorf("exit code %d without a sentence; on stderr:\n%s", r.code, clip(r.stderr))
	}
	if len(lines) > 5 {
		return fmt.Errorf("exit code %d with %d lines on stderr:\n%s", r.code, len(lines), clip(r.stderr))
	}
	return nil
}

func clip(text string) string {
	const most = 1000
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line[:min(len(line), 300)]
}

// checkNames returns an error if a directory has files of other names, such as temporary
// files. Files of these names may be missing.
func checkNames(dir string, names ...string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !slices.Contains(names, e.Name()) {
			return fmt.Errorf("the file %s was left behind", e.Name())
		}
	}
	return nil
}
