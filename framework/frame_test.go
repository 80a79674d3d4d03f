package framework_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/solvers"
)

// named is a stored run with the name of a file.
type named struct{ io.Reader }

func (named) Name() string { return "run.ckpt" }

// goOn takes up a stored run of the first case of solvers.
func goOn(stored []byte) (*framework.Result, error) {
	c := frameworktest.SolverCases()[0]
	p := &framework.Checkpoint{Fingerprint: c.Name, Stored: named{bytes.NewReader(stored)}}
	o := framework.Options{MaxIterations: 5, Tolerance: 1e-300, MinRelativeDecrease: -1, Checkpoint: p}
	return framework.Solve(context.Background(), c.New(), c.Start, solvers.RGD{}, o)
}

func someRun(t testing.TB) []byte {
	t.Helper()
	c := frameworktest.SolverCases()[0]
	k := &kept{}
	o := framework.Options{MaxIterations: 3, Checkpoint: &framework.Checkpoint{Every: -1, Fingerprint: c.Name, Store: k.store}}
	_, err := framework.Solve(context.Background(), c.New(), c.Start, solvers.RGD{}, o)
	require.NoError(t, err)
	_, err = goOn(k.runs[1])
	require.NoError(t, err)
	return k.runs[1]
}

// refusedRun wants the sentence of a stored run that is not taken up.
func refusedRun(b []byte) error {
	res, err := goOn(b)
	switch {
	case err == nil:
		return fmt.Errorf("accepted, with cost %v", res.Cost)
	case !strings.Contains(err.Error(), "run.ckpt: stored run: "):
		return fmt.Errorf("the file is not named: %w", err)
	case !strings.Contains(err.Error(), "byte") || !strings.Contains(err.Error(), "start anew"):
		return fmt.Errorf("no place or no remedy: %w", err)
	}
	return nil
}

func flipped(b []byte, bit int) []byte {
	b = bytes.Clone(b)
	b[bit/8] ^= 1 << (bit % 8)
	return b
}

func TestNoBitOfAStoredRunMayChange(t *testing.T) {
	good := someRun(t)
	for bit := range 8 * len(good) {
		require.NoError(t, refusedRun(flipped(good, bit)), "bit %d", bit)
	}
}

func TestDrillFlippedBitsOfRuns(t *testing.T) {
	good := someRun(t)
	drill.Run(t, "flipped bits of runs", 256, func(c drill.Case) error {
		return refusedRun(flipped(good, c.IntN(8*len(good))))
	})
}

func TestStoredRunsEndWhereTheyEnd(t *testing.T) {
	good := someRun(t)
	for size := 1; size < len(good); size++ {
		require.NoError(t, refusedRun(good[:size]), "cut at %d", size)
	}
	_, err := goOn(nil)
	require.ErrorContains(t, err, "run.ckpt: stored run: is empty")
	for _, rest := range [][]byte{{0}, []byte("\n"), make([]byte, 4096), good} {
		require.NoError(t, refusedRun(append(bytes.Clone(good), rest...)))
	}
}

func TestStoredRunsOfOthersAreNamed(t *testing.T) {
	good := someRun(t)
	another := bytes.Clone(good)
	another[8] = 77
	for want, b := range map[string][]byte{
		"has format 77 at byte 8, this program reads": another,
		`are "PK\x03\x04....", not`:                   []byte("PK\x03\x04...................."),
		"ends after 43 of at least 44 bytes":          good[:43],
		"do not have the SHA-256":                     flipped(good, 8*60),
	} {
		_, err := goOn(b)
		require.ErrorIs(t, err, framework.ErrInvalid, want)
		assert.ErrorContains(t, err, want)
	}
}

func TestRunsOfAnotherBuildAreRefused(t *testing.T) {
	c := frameworktest.SolverCases()[0]
	k := &kept{}
	solve := func(program string, stored []byte) error {
		p := &framework.Checkpoint{Every: -1, Fingerprint: c.Name, Program: program, Store: k.store}
		if stored != nil {
			p.Stored = bytes.NewReader(stored)
		}
		_, err := framework.Solve(context.Background(), c.New(), c.Start, solvers.RGD{}, framework.Options{MaxIterations: 2, Checkpoint: p})
		return err
	}
	require.NoError(t, solve("build 1", nil))
	mine := k.runs[0]
	require.NoError(t, solve("build 1", mine))
	require.ErrorContains(t, solve("build 2", mine), "is of another build of the program (build 1) than this (build 2)")
	err := solve("", mine)
	require.ErrorIs(t, err, framework.ErrInvalid)
	assert.Regexp(t, `than this \(go.* \w+/\w+, SHA-256 [0-9a-f]{64}\)`, err.Error(), "the executable file")
}
