//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/drill"
)

// A fit that is killed without warning, again and again, ends in the model of a
// fit that was not.
func TestKilledFitGoesOnFromItsCheckpoint(t *testing.T) {
	for name, args := range map[string][]string{
		"rgd":         {"--loss", "l1", "--solver", "rgd", "--max-iter", "10"},
		"alternating": {"--loss", "l2", "--solver", "alternating", "--max-iter", "40", "--tol", "1e-13"},
		"lbfgs":       {"--loss", "l1", "--solver", "lbfgs", "--max-iter", "15"},
		"newton":      {"--loss", "lp", "--p", "1.5", "--solver", "newton", "--max-iter", "12", "--columns", "1-4"},
	} {
		t.Run(name, func(t *testing.T) { killAndResume(t, args...) })
	}
}

func killAndResume(t *testing.T, args ...string) {
	p := newPlace(t)
	data := p.matrix("data.npy", bowl(700, 12))
	fit := func(model string, more ...string) []string {
		return append(append([]string{"fit", data, "--progress", "never", "-o", p.path(model)}, args...), more...)
	}
	succeed(t, fit("whole.npz")...)

	stored := p.path("run.ckpt")
	resumed := fit("resumed.npz", "--checkpoint", stored, "--checkpoint-every", "1ms", "--resume")
	kills := 0
	for wait := 20 * time.Millisecond; ; wait *= 2 {
		if endedBefore(t, wait, resumed...) {
			break
		}
		kills++
	}
	assert.Positive(t, kills)
	want, err := os.ReadFile(p.path("whole.npz"))
	require.NoError(t, err)
	got, err := os.ReadFile(p.path("resumed.npz"))
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.Equal(t, []string{"data.npy", "resumed.npz", "run.ckpt", "whole.npz"}, p.names(), "no temporaries, no lock")
}

// endedBefore runs a command and kills it after a time, and reports whether it
// ended before that.
func endedBefore(t *testing.T, wait time.Duration, args ...string) bool {
	t.Helper()
	run := start(t, nil, args...)
	time.Sleep(wait)
	_ = run.Process.Signal(syscall.SIGKILL)
	code, stderr := run.end(t)
	require.Contains(t, []int{0, -1}, code, "it refused what it had stored: %s", stderr)
	return code == 0
}

// Killed at any moment, a fit leaves a checkpoint that can be read or none, and
// goes on to the result of a fit that nothing happened to.
func TestDrillKilledFits(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.npy", bowl(700, 12))
	fit := []string{"fit", data, "--progress", "never", "--loss", "l2", "--solver", "alternating", "--max-iter", "40", "--tol", "1e-13"}
	begin := time.Now()
	succeed(t, append(fit, "-o", p.path("whole.npz"))...)
	whole, err := os.ReadFile(p.path("whole.npz"))
	require.NoError(t, err)
	span := time.Since(begin) + 50*time.Millisecond

	drill.Run(t, "killed fits", 3, func(c drill.Case) error {
		q := newPlace(t)
		resumed := append(slices.Clone(fit), "-o", q.path("m.npz"), "--checkpoint", q.path("run.ckpt"), "--checkpoint-every", "1ms", "--resume")
		for range 1 + c.IntN(4) {
			if endedBefore(t, time.Duration(c.Int64N(int64(span))), resumed...) {
				break
			}
		}
		if r := execute(resumed...); r.code != 0 {
			return errors.New(r.stderr)
		}
		got, err := os.ReadFile(q.path("m.npz"))
		switch {
		case err != nil:
			return err
		case !bytes.Equal(whole, got):
			return errors.New("another model")
		case len(q.names()) != 2:
			return fmt.Errorf("left behind: %v", q.names())
		}
		return nil
	})
}

// A checkpoint of which one bit has changed does not go on to anything.
func TestDrillFlippedBitsOfCheckpoints(t *testing.T) {
	p := newPlace(t)
	data, stored := p.matrix("data.npy", bowl(20, 3)), p.path("run.ckpt")
	fit := []string{"fit", data, "-d", "1", "-s", "1", "--checkpoint", stored, "-o", p.path("m.npz")}
	succeed(t, append(fit, "--max-iter", "2")...)
	good, err := os.ReadFile(stored)
	require.NoError(t, err)
	require.NoError(t, os.Remove(p.path("m.npz")))
	fit = append(fit, "--resume", "--max-iter", "4")

	drill.Run(t, "flipped bits of checkpoints", 64, func(c drill.Case) error {
		b, bit := bytes.Clone(good), c.IntN(8*len(good))
		b[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(stored, b, 0o600); err != nil {
			return err
		}
		r := execute(fit...)
		switch {
		case r.code != cli.ExitUsage || r.stdout != "":
			return fmt.Errorf("bit %d: exit %d, %s%s", bit, r.code, r.stdout, r.stderr)
		case !strings.Contains(r.stderr, stored+": stored run: ") || strings.Count(r.stderr, "\n") != 1:
			return fmt.Errorf("bit %d: %s", bit, r.stderr)
		case len(p.names()) != 2:
			return fmt.Errorf("bit %d: left behind: %v", bit, p.names())
		}
		return nil
	})
	require.NoError(t, os.WriteFile(stored, good, 0o600))
	succeed(t, fit...)
}

func TestACheckpointIsForOneFit(t *testing.T) {
	p := newPlace(t)
	data, stored := p.matrix("data.npy", bowl(2000, 20)), p.path("run.ckpt")
	first := start(t, nil, append(endless(data, p.path("first.npz")), "--checkpoint", stored)...)
	_, err := first.stderr.ReadByte() // the bar appears with the first iterate
	require.NoError(t, err)

	link := p.path("link.ckpt")
	require.NoError(t, os.Symlink("run.ckpt", link))
	for _, name := range []string{stored, link} {
		code, stderr := start(t, nil, "fit", data, "-o", p.path("second.npz"), "--checkpoint", name, "--resume").end(t)
		assert.Equal(t, cli.ExitUsage, code)
		assert.Regexp(t, fmt.Sprintf("^scqm: fit: --checkpoint: %s: is in use by process %d on .*; wait for its end, or name another file\n$",
			regexp.QuoteMeta(name), first.Process.Pid), stderr)
	}
	require.NoError(t, first.Process.Signal(syscall.SIGKILL))
	first.end(t)
	assert.NotContains(t, p.names(), "second.npz")

	// The name of the dead one keeps nobody out.
	code, stderr := start(t, nil, "fit", data, "--loss", "l1", "--preset", "paper", "--tol", "1e-300", "--checkpoint", stored, "--resume", "--max-iter", "1").end(t)
	assert.Zero(t, code, stderr)
	assert.ElementsMatch(t, []string{"data.npy", "link.ckpt", "run.ckpt"}, p.names())
}

func TestCheckpointsAreNotLostOrMixedUp(t *testing.T) {
	p := newPlace(t)
	data, stored := p.matrix("data.csv", bowl(60, 5)), p.path("run.ckpt")
	fit := []string{"fit", data, "--max-iter", "3", "--checkpoint", stored}
	succeed(t, fit...)
	_, err := os.Stat(stored)
	require.NoError(t, err)

	refused := func(want string, args ...string) {
		t.Helper()
		r := execute(args...)
		assert.Equal(t, cli.ExitUsage, r.code)
		assert.Contains(t, r.stderr, want)
	}
	refused("add --resume", fit...)
	refused("other data or settings", append(fit, "--resume", "--ridge", "1")...)
	refused("other data or settings", "fit", p.matrix("other.csv", bowl(61, 5)), "--checkpoint", stored, "--resume")
	refused("without --checkpoint", "fit", data, "--resume")
	require.NoError(t, os.WriteFile(stored, []byte("damaged"), 0o600))
	refused("stored run", append(fit, "--resume")...)
}
