package plugins

import (
	"bytes"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/losses"
)

// mortal is l2, for rows of any length, that kills its process at calls 20 to 22 of all processes together, which it
// counts by the length of a file, and logs the first call.
type mortal struct {
	framework.Loss
	file string
}

func newMortal(file string) mortal { return mortal{losses.L2(), file} }

func (m mortal) Evaluate(values, grad, r []float64, dim int) error {
	f, err := os.OpenFile(m.file, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	f.WriteString(".")
	size, err := f.Stat()
	f.Close()
	if err == nil && size.Size() == 1 {
		hclog.New(&hclog.LoggerOptions{JSONFormat: true, Output: os.Stderr}).Warn("first call", "rows", len(r)/dim)
	}
	if err == nil && size.Size() == 20 {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return m.Loss.Evaluate(values, grad, r, dim)
}

// A plugin that ends is started again once, the call is made again, and the loss says so; nothing of either is left.
func TestAPluginIsStartedAgain(t *testing.T) {
	before := census(t)
	file := filepath.Join(t.TempDir(), "calls")
	p := start(t, "mortal:"+file, Options{})
	row, values := []float64{3, 4}, make([]float64, 1)
	for i := range 30 {
		require.NoError(t, p.Loss().Evaluate(values, row, row, 2), i)
		assert.Equal(t, 5., values[0])
		copy(row, []float64{3, 4})
		assert.Equal(t, i >= 19, p.Restarts() == 1, i)
	}
	notes := p.Loss().(rowloss.Noted).Notes()
	require.Len(t, notes, 1)
	assert.Contains(t, notes[0], "the plugin l2 ended during the fit and was started again: plugins: l2: evaluate: it ended (signal: killed)")
	require.NoError(t, os.Truncate(file, 19))
	assert.ErrorIs(t, p.Loss().Evaluate(values, nil, row, 2), ErrCrashed, "once")
	assert.ErrorIs(t, p.Loss().Evaluate(values, nil, row, 2), ErrCrashed)
	require.NoError(t, p.Close())
	assert.ErrorIs(t, p.Loss().Evaluate(values, nil, row, 2), ErrCrashed)
	before.sameAs(t)
	q := start(t, "mortal:"+file, Options{})
	require.NoError(t, q.Close())
	assert.ErrorIs(t, q.Loss().Evaluate(values, nil, row, 2), ErrClosed)
	assert.Zero(t, q.Restarts())
}

// lockedText is a buffer that a logger may write to later.
type lockedText struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// What a plugin logs by hclog reaches the logger with its level and values, other lines as debug.
func TestPluginsLog(t *testing.T) {
	text := &lockedText{}
	logger := slog.New(slog.NewTextHandler(text, &slog.HandlerOptions{Level: slog.Level(math.MinInt)}))
	p := start(t, "mortal:"+filepath.Join(t.TempDir(), "calls"), Options{Logger: logger})
	require.NoError(t, p.Loss().Evaluate(make([]float64, 1), nil, []float64{3, 4}, 2))
	require.NoError(t, p.Close())
	assert.Eventually(t, func() bool {
		return regexp.MustCompile(`level=WARN msg="first call" (timestamp=\S+ )?rows=1 .*plugin=plugins.test`).MatchString(text.String())
	}, longest, time.Millisecond)
	assert.False(t, newLogger(nil).IsWarn())
	s := sink{logger}
	for level, want := range map[hclog.Level]string{hclog.Trace: "DEBUG-4", hclog.Debug: "DEBUG", hclog.Info: "INFO", hclog.Error: "ERROR"} {
		s.Accept("x", level, "words")
		assert.Contains(t, text.String(), "level="+want+" msg=words plugin=x")
	}
}
