package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/dataset"
)

// flag is what the flags of pflag are here.
type flag interface {
	Set(string) error
	String() string
}

func TestValues(t *testing.T) {
	var (
		name, word string
		natural    uint64
		count      int
		x, y       float64
		d          time.Duration
	)
	for _, c := range []struct {
		flag
		good, shown, bad string
	}{
		{Name(&name, "FILE"), "a b", "a b", ""},
		{Natural(&natural), "18446744073709551615", "18446744073709551615", "-1"},
		{Count(&count), "1", "1", "0"},
		{Positive(&x), "1e-9", "1e-09", "0"},
		{Positive(&x), "2", "2", "Inf"},
		{NonNegative(&y), "0.5", "0.5", "NaN"},
		{Duration(&d), "1.5", "1.5s", "-1s"},
		{Choice(&word, "red", "green"), "green", "green", "blue"},
	} {
		require.NoError(t, c.Set(c.good))
		assert.Equal(t, c.shown, c.String())
		assert.Error(t, c.Set(c.bad), c.bad)
	}
	assert.Empty(t, Count(new(int)).String(), "there is no default to show")
	assert.Equal(t, "red|green", Choice(&word, "red", "green").Type())
}

func TestErrors(t *testing.T) {
	wrong := Usagef("--x: %w", dataset.ErrInput)
	require.ErrorIs(t, wrong, ErrUsage)
	require.ErrorIs(t, wrong, dataset.ErrInput)
	parent := &cobra.Command{Use: "scqm"}
	cmd := &cobra.Command{Use: "fit"}
	parent.AddCommand(cmd)
	assert.Equal(t, "scqm: fit: --x: no", OneLine(cmd, Usagef("scqm: fit: --x: no\nmore")))

	for _, c := range []struct {
		code  int
		cause error
		err   error
	}{
		{0, nil, nil},
		{ExitFailed, nil, os.ErrNotExist},
		{ExitUsage, nil, fmt.Errorf("a: %w", wrong)},
		{ExitInterrupted, nil, context.Canceled},
		{128 + int(syscall.SIGTERM), Interruption{syscall.SIGTERM}, context.Canceled},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(c.cause)
		assert.Equal(t, c.code, ExitCode(ctx, c.err), c.err)
	}
}

// Work that does not end is left behind.
func TestAwait(t *testing.T) {
	n, err := Await(t.Context(), func() (int, error) { return 3, os.ErrExist })
	assert.Equal(t, 3, n)
	require.ErrorIs(t, err, os.ErrExist)
	ctx, cancel := context.WithCancel(t.Context())
	never := make(chan struct{})
	defer close(never)
	_, err = Await(ctx, func() (int, error) {
		cancel()
		<-never
		return 1, nil
	})
	require.ErrorIs(t, err, context.Canceled)
	_, err = Await(ctx, func() (int, error) { return 1, errors.New("begun") })
	require.ErrorIs(t, err, context.Canceled)
}

func TestTables(t *testing.T) {
	m := &dataset.Matrix{Rows: 2, Cols: 1, Data: []float64{1, 2}}
	more := &dataset.Matrix{Rows: 2, Cols: 2, Data: []float64{3, 4, 5, 6}, Names: []string{"a", "b"}}
	alone, err := Beside(m, nil)
	require.NoError(t, err)
	assert.Same(t, m, alone)
	both, err := Beside(m, more)
	require.NoError(t, err)
	assert.Equal(t, []string{"x1", "a", "b"}, both.Names)
	assert.Equal(t, []float64{1, 3, 4, 2, 5, 6}, both.Data)
	assert.Equal(t, 0.0, UpperMedian(nil))
	assert.Equal(t, 2.0, UpperMedian([]float64{2, 1}))

	var text strings.Builder
	require.NoError(t, PrintTable(&text, [][]string{{"A", "B"}, {"long", "1"}}))
	assert.Equal(t, "A     B\nlong  1\n", text.String())
	text.Reset()
	require.NoError(t, PrintJSON(&text, map[string]string{"a": "<b>"}))
	assert.Equal(t, "{\n  \"a\": \"<b>\"\n}\n", text.String())
}
