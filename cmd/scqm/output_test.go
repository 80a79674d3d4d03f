//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
)

// shell runs a line of sh in which $0 is scqm, and returns how it ended.
func shell(t *testing.T, dir, line string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	cmd := exec.Command("/bin/sh", "-c", line, os.Args[0])
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(os.Environ(), asProgram+"=1"), &out, &err
	_ = cmd.Run()
	return cmd.ProcessState.ExitCode(), out.String(), err.String()
}

func TestOutputThatNobodyKeeps(t *testing.T) {
	p := newPlace(t)
	data := p.file("data.csv", csv(bowl(40, 3)))
	succeed(t, "fit", data, "-o", p.path("model.npz"))
	commands := []string{
		"", "--help", "--version", "help fit", "version", "losses", "solvers", "methods", "plugin list", "completion bash",
		"fit data.csv", "fit data.csv --json", "fit data.csv -o other.npz", "mean data.csv", "suggest data.csv --max-latent 1",
		"transform model.npz data.csv", "project model.npz data.csv", "influence model.npz data.csv", "denoise data.csv",
	}
	for _, command := range commands {
		name := "scqm: "
		if words := strings.Fields(command); len(words) > 0 && !strings.HasPrefix(words[0], "-") {
			name += words[0] + ": "
			if words[0] == "plugin" || words[0] == "completion" {
				name += words[1] + ": "
			}
		}
		code, _, stderr := shell(t, p.dir, `"$0" `+command+` >&-`)
		assert.Equal(t, cli.ExitFailed, code, command)
		assert.Equal(t, name+"standard output is closed; send it to a file, or to /dev/null\n", stderr, command)
		if _, err := os.Stat("/dev/full"); err == nil {
			code, _, stderr = shell(t, p.dir, `"$0" `+command+` >/dev/full`)
			assert.Equal(t, cli.ExitFailed, code, command)
			assert.Equal(t, name+"standard output: no space left on device\n", stderr, command)
		}
		code, _, stderr = shell(t, p.dir, `"$0" `+command+` >/dev/null`)
		assert.Zero(t, code, "%s: %s", command, stderr)
	}
	code, _, stderr := shell(t, p.dir, `"$0" fit - <&-`)
	assert.Equal(t, cli.ExitUsage, code)
	assert.Equal(t, "scqm: fit: <stdin>: standard input is closed; name a file, or send it one with <\n", stderr)
	code, _, _ = shell(t, p.dir, `"$0" fit none.csv 2>&-`)
	assert.Equal(t, cli.ExitUsage, code)
}

func TestFewDescriptorsAreToldOf(t *testing.T) {
	p := newPlace(t)
	data := p.file("data.csv", csv(bowl(40, 3)))
	refused := 0
	for limit := 4; limit < 40; limit++ {
		code, _, stderr := shell(t, p.dir, fmt.Sprintf(`ulimit -n %d; exec "$0" fit %s -o model.npz`, limit, data))
		switch {
		case code == 0:
			assert.Empty(t, withoutWarnings(stderr))
		case strings.Contains(stderr, "error while loading shared libraries"): // before there is a program
		default:
			refused++
			assert.Equal(t, cli.ExitFailed, code, "limit %d: %s", limit, stderr)
			assert.Equal(t, 1, strings.Count(stderr, "\n"), "limit %d: %s", limit, stderr)
			assert.Contains(t, stderr, "file", "limit %d", limit)
		}
	}
	assert.Positive(t, refused)
}

// A pipe to which nobody comes, or from which nobody takes, is left at the first
// signal.
func TestInterruptedWritingToAPipeEndsAtOnce(t *testing.T) {
	p := newPlace(t)
	small, large := p.matrix("small.npy", bowl(40, 3)), p.matrix("large.npy", bowl(20000, 3))
	succeed(t, "fit", large, "-o", p.path("model.npz"), "--max-iter", "3")
	for i, c := range []struct {
		args  []string
		pipe  string
		stuck bool
	}{
		{[]string{"fit", small}, "pipe.npz", false},
		{[]string{"fit", large, "--max-iter", "1"}, "pipe.npz", true},
		{[]string{"mean", small}, "pipe.npy", false},
		{[]string{"transform", p.path("model.npz"), large}, "pipe.npy", true},
		{[]string{"denoise", small}, "pipe.npy", false},
		{[]string{"suggest", small, "--max-latent", "1"}, "pipe.npy", false},
	} {
		t.Run(fmt.Sprintf("%s %d", c.args[0], i), func(t *testing.T) {
			t.Parallel() // they wait most of the time
			pipe := newPlace(t).path(c.pipe)
			require.NoError(t, syscall.Mkfifo(pipe, 0o600))
			leavesPipe(t, append(c.args, "-o", pipe), pipe, c.stuck)
		})
	}
}

// leavesPipe interrupts a command that writes to a pipe. Where it is stuck,
// somebody has opened the pipe but takes nothing.
func leavesPipe(t *testing.T, args []string, pipe string, stuck bool) {
	t.Helper()
	prompt(t, func() time.Duration {
		if stuck {
			reader, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
			require.NoError(t, err)
			defer reader.Close()
		}
		program := start(t, nil, args...)
		time.Sleep(2 * time.Second) // nothing shows that it waits
		code, stderr, elapsed := program.interrupt(t, os.Interrupt)
		assert.Equal(t, 130, code, args)
		assert.Equal(t, "scqm: "+args[0]+": "+pipe+": not written in full, for nobody reads it: interrupted\n", stderr)
		return elapsed
	})
}

func TestWhatIsReadIsNotOverwritten(t *testing.T) {
	p := newPlace(t)
	rows := bowl(40, 3)
	data, array := p.file("data.csv", csv(rows)), p.matrix("data.npz", rows)
	model := p.path("model.npz")
	succeed(t, "fit", data, "-o", model)
	require.NoError(t, os.Symlink("data.csv", p.path("link.csv")))
	require.NoError(t, os.Link(array, p.path("hard.npz")))
	before := p.contents()
	for _, args := range [][]string{
		{"fit", array, "-o", array},
		{"fit", array + ":arr_0", "-o", p.path("hard.npz")},
		{"fit", data, "-o", p.path("new.npz"), "--checkpoint", p.path(".") + "/new.npz"},
		{"transform", model, data, "-o", p.path("link.csv")},
		{"reconstruct", model, array, "-o", model},
		{"project", model, data, "-o", data},
		{"denoise", data, "-o", p.path("link.csv")},
		{"denoise", array, "--queries", data, "-o", data},
		{"mean", data, "-o", p.path("a.csv"), "--influence", p.path("a.csv")},
		{"suggest", data, "-o", data},
		{"influence", model, data, "-o", data},
	} {
		r := execute(args...)
		assert.Equal(t, cli.ExitUsage, r.code, args)
		assert.Contains(t, r.stderr, "name another file", args)
	}
	assert.Equal(t, before, p.contents())
}

// contents maps the files that are there to what they hold.
func (p place) contents() map[string]string {
	p.t.Helper()
	held := map[string]string{}
	for _, name := range p.names() {
		b, err := os.ReadFile(p.path(name))
		require.NoError(p.t, err)
		held[name] = string(b)
	}
	return held
}

func TestNamesWithLineBreaksStayOnOneLine(t *testing.T) {
	r := execute("fit", "no\nsuch.csv")
	assert.Equal(t, "scqm: fit: \"no\\nsuch.csv\": no such file or directory\n", r.stderr)
	r = execute("version", "\x1b[2J")
	assert.NotContains(t, r.stderr, "\x1b")
	r = execute("fit", "data.csv", "--output=no\nsuch/model.npz")
	assert.Contains(t, r.stderr, `"no\nsuch/model.npz": there is no directory`)
	r = execute("fit", "x\u202ezpn.npz:key")
	assert.Contains(t, r.stderr, `x\u202ezpn.npz`)
	p := newPlace(t)
	out := succeed(t, "mean", p.matrix("x\u2066.npy", torus(30, 0)), "-o", p.path("m\u202e.npy"))
	assert.Contains(t, out, `m\u202e.npy"`)
}
