//go:build unix

package main

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A fit that is killed without warning, again and again, ends in the model of a
// fit that was not.
func TestKilledFitGoesOnFromItsCheckpoint(t *testing.T) {
	for name, args := range map[string][]string{
		"rgd":                {"--loss", "l1", "--solver", "rgd", "--max-iter", "10"},
		"alternating":        {"--loss", "l2", "--solver", "alternating", "--max-iter", "40", "--tol", "1e-13"},
		"alternating blocks": {"--loss", "lp", "--p", "1.5", "--solver", "alternating", "--max-iter", "4"},
		"lbfgs":              {"--loss", "l1", "--solver", "lbfgs", "--max-iter", "15"},
		"newton":             {"--loss", "lp", "--p", "1.5", "--solver", "newton", "--max-iter", "12", "--columns", "1-4"},
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
		run := start(t, nil, resumed...)
		time.Sleep(wait)
		_ = run.Process.Signal(syscall.SIGKILL)
		if code, _ := run.end(t); code == 0 {
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
		assert.Equal(t, exitUsage, r.code)
		assert.Contains(t, r.stderr, want)
	}
	refused("add --resume", fit...)
	refused("other data or settings", append(fit, "--resume", "--ridge", "1")...)
	refused("other data or settings", "fit", p.matrix("other.csv", bowl(61, 5)), "--checkpoint", stored, "--resume")
	refused("without --checkpoint", "fit", data, "--resume")
	require.NoError(t, os.WriteFile(stored, []byte("damaged"), 0o600))
	refused("stored run", append(fit, "--resume")...)
}
