//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/cmd/scqm/internal/options"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
)

// program is this test binary running as scqm.
type program struct {
	*exec.Cmd
	stdout bytes.Buffer
	stderr *bufio.Reader
}

func start(t *testing.T, stdin io.Reader, args ...string) *program {
	t.Helper()
	p := &program{Cmd: exec.Command(os.Args[0], args...)}
	p.Env = append(os.Environ(), asProgram+"=1")
	p.Stdin, p.Stdout = stdin, &p.stdout
	pipe, err := p.StderrPipe()
	require.NoError(t, err)
	p.stderr = bufio.NewReader(pipe)
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// end waits for the program and returns its exit code and what was left on
// stderr.
func (p *program) end(t *testing.T) (int, string) {
	t.Helper()
	rest, err := io.ReadAll(p.stderr)
	require.NoError(t, err)
	_ = p.Wait()
	return p.ProcessState.ExitCode(), string(rest)
}

// endless are the arguments of a fit that would take days.
func endless(data, model string) []string {
	return []string{"fit", data, "-o", model, "--json", "--loss", "l1", "--progress", "always", "--preset", "paper",
		"--max-iter", "1000000000", "--tol", "1e-300"}
}

// prompt wants one of three tries to be over in time: on a busy machine any one
// of them may be held up.
func prompt(t *testing.T, try func() time.Duration) {
	t.Helper()
	best := time.Hour
	for range 3 {
		if best = min(best, try()); best < patience {
			break
		}
	}
	t.Logf("took %v", best)
	assert.Less(t, best, patience)
}

// interrupt sends a signal and returns how the program ended, and how long that
// took.
func (p *program) interrupt(t *testing.T, signal os.Signal) (code int, stderr string, elapsed time.Duration) {
	t.Helper()
	begin := time.Now()
	require.NoError(t, p.Process.Signal(signal))
	code, stderr = p.end(t)
	return code, stderr, time.Since(begin)
}

func TestInterruptedFitSavesTheBestModel(t *testing.T) {
	p := newPlace(t)
	data, model := p.matrix("data.npy", bowl(20000, 60)), p.path("model.npz")
	for signal, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		t.Run(signal.String(), func(t *testing.T) {
			prompt(t, func() time.Duration {
				fit := start(t, nil, endless(data, model)...)
				_, err := fit.stderr.ReadByte() // the bar appears with the first iterate
				require.NoError(t, err)
				time.Sleep(200 * time.Millisecond)
				code, stderr, elapsed := fit.interrupt(t, signal)

				assert.Equal(t, want, code)
				assert.Contains(t, stderr, "scqm: fit: "+model+" holds the best model so far: interrupted\n")
				var report map[string]any
				require.NoError(t, json.Unmarshal(fit.stdout.Bytes(), &report))
				assert.Equal(t, "cancelled", report["status"])
				m, err := scqm.Load(model)
				require.NoError(t, err)
				assert.Equal(t, report["objective"], m.Meta.Objective)
				return elapsed
			})
		})
	}
}

func TestInterruptedReadingEndsAtOnce(t *testing.T) {
	p := newPlace(t)
	silent, writer, err := os.Pipe()
	require.NoError(t, err)
	defer silent.Close()
	defer writer.Close()
	prompt(t, func() time.Duration {
		fit := start(t, silent, "fit", "-", "-o", p.path("model.npz"))
		time.Sleep(500 * time.Millisecond) // nothing shows that it reads
		code, stderr, elapsed := fit.interrupt(t, os.Interrupt)

		assert.Equal(t, 130, code)
		assert.Equal(t, "scqm: fit: interrupted\n", stderr)
		assert.Empty(t, p.names())
		return elapsed
	})
}

func TestInterruptedPreparationsEndAtOnce(t *testing.T) {
	x := bowl(4000, 3000) // whose principal components take most of a second
	prompt(t, func() time.Duration {
		ctx, cancel := context.WithCancel(t.Context())
		var end time.Time
		time.AfterFunc(30*time.Millisecond, func() { end = time.Now(); cancel() })
		fit, err := options.Learn(ctx, cli.RowsOf(x), scqm.Config{Latent: 2, Loss: losses.L2()})

		require.ErrorIs(t, err, context.Canceled)
		assert.Nil(t, fit)
		return time.Since(end)
	})
}

func TestSecondSignalDoesNotWait(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.npy", bowl(5000, 60))
	// The model goes to a pipe that nobody empties.
	require.NoError(t, syscall.Mkfifo(p.path("model.npz"), 0o600))
	reader, err := os.OpenFile(p.path("model.npz"), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	require.NoError(t, err)
	defer reader.Close()
	prompt(t, func() time.Duration {
		fit := start(t, nil, "fit", data, "-o", p.path("model.npz"), "--max-iter", "1")
		time.Sleep(time.Second)
		require.NoError(t, fit.Process.Signal(os.Interrupt))
		time.Sleep(300 * time.Millisecond)
		code, _, elapsed := fit.interrupt(t, os.Interrupt)

		assert.Equal(t, 130, code)
		return elapsed
	})
}

func TestClosedPipeEndsQuietly(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.npy", bowl(2000, 20))
	succeed(t, "fit", data, "-o", p.path("model.npz"), "--max-iter", "3")
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	cmd := exec.Command(os.Args[0], "project", p.path("model.npz"), data)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stdout = writer
	var stderr bytes.Buffer
	cmd.Stderr = &stderr

	err = cmd.Run()

	require.Error(t, err)
	assert.Empty(t, stderr.String())
	assert.Equal(t, syscall.SIGPIPE, cmd.ProcessState.Sys().(syscall.WaitStatus).Signal())
}

func TestProgramExitCodes(t *testing.T) {
	for command, want := range map[string]int{"version": 0, "fit": cli.ExitUsage} {
		code, _ := start(t, nil, command).end(t)
		assert.Equal(t, want, code, command)
	}
}
