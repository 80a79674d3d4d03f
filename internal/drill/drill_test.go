package drill

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// outcome is a test that keeps what is said of it.
type outcome struct {
	testing.TB
	log            string
	failed, passed bool
}

func (o *outcome) Logf(format string, args ...any)   { o.log += fmt.Sprintf(format, args...) + "\n" }
func (o *outcome) Errorf(format string, args ...any) { o.failed = true; o.Logf(format, args...) }
func (o *outcome) Fatalf(format string, args ...any) { o.Errorf(format, args...); runtime.Goexit() }
func (o *outcome) Skipf(format string, args ...any)  { o.Logf(format, args...); runtime.Goexit() }
func (o *outcome) Name() string                      { return "TestOfDrill" }

// play runs a drill as a test of its own.
func play(t *testing.T, drill func(t testing.TB)) *outcome {
	o, done := &outcome{TB: t}, make(chan struct{})
	go func() {
		defer close(done)
		drill(o)
		o.passed = !o.failed
	}()
	<-done
	return o
}

func clear(t *testing.T) (report string) {
	report = filepath.Join(t.TempDir(), "report")
	for _, name := range []string{EnvCases, EnvSeed, EnvCase, EnvShard} {
		t.Setenv(name, "")
	}
	t.Setenv(EnvReport, report)
	return report
}

func TestCases(t *testing.T) {
	clear(t)
	assert.Equal(t, 7, Cases(t, "flips", 7))
	t.Setenv(EnvCases, "500")
	assert.Equal(t, 500, Cases(t, "flips", 7))
	t.Setenv(EnvCases, "limits=20,500,flips=9")
	assert.Equal(t, 9, Cases(t, "flips", 7))
	assert.Equal(t, 20, Cases(t, "limits", 7))
	assert.Equal(t, 500, Cases(t, "others", 7))
	t.Setenv(EnvCases, "flips=many")
	assert.Contains(t, play(t, func(t testing.TB) { Cases(t, "flips", 7) }).log, `SCQM_DRILL_CASES: "many" is not a whole number`)
}

func TestRandomNumbersOfACase(t *testing.T) {
	clear(t)
	assert.Equal(t, uint64(1), Seed(t))
	first := Rand(t, "flips", 3).Uint64()
	assert.Equal(t, first, Rand(t, "flips", 3).Uint64())
	assert.NotEqual(t, first, Rand(t, "flips", 4).Uint64())
	assert.NotEqual(t, first, Rand(t, "limits", 3).Uint64())
	t.Setenv(EnvSeed, "2")
	assert.NotEqual(t, first, Rand(t, "flips", 3).Uint64())
}

func TestRunReports(t *testing.T) {
	report := clear(t)
	good := play(t, func(t testing.TB) { Run(t, "good", 5, func(Case) error { return nil }) })
	assert.True(t, good.passed, good.log)

	drawn := map[int]uint64{}
	bad := func(t testing.TB) {
		Run(t, "bad", 5, func(c Case) error {
			drawn[c.Index] = c.Uint64()
			if c.Index%2 == 1 {
				return errors.New("odd")
			}
			return nil
		})
	}
	o := play(t, bad)
	assert.True(t, o.failed)
	assert.Contains(t, o.log, "bad: case 3: odd\nrerun: SCQM_DRILL_SEED=1 SCQM_DRILL_CASE=3 go test -count=1 -run '^TestOfDrill$'")
	require.Len(t, drawn, 5)

	// One case alone sees the numbers that it saw among the others.
	all := drawn
	drawn = map[int]uint64{}
	t.Setenv(EnvCase, "3")
	assert.True(t, play(t, bad).failed)
	assert.Equal(t, map[int]uint64{3: all[3]}, drawn)

	t.Setenv(EnvCase, "")
	drawn = map[int]uint64{}
	t.Setenv(EnvShard, "1/3")
	assert.True(t, play(t, bad).failed)
	assert.Equal(t, map[int]uint64{1: all[1], 4: all[4]}, drawn)
	t.Setenv(EnvShard, "3/3")
	assert.Contains(t, play(t, bad).log, "K below M")

	t.Setenv(EnvShard, "")
	o = play(t, func(t testing.TB) { Run(t, "none", 0, func(Case) error { return nil }) })
	assert.True(t, o.failed, "a drill without cases passed")
	o = play(t, func(t testing.TB) { Skip(t, "mounts", "only root may\nmount") })
	assert.False(t, o.failed || o.passed)

	text, err := os.ReadFile(report)
	require.NoError(t, err)
	assert.Equal(t, "good\t5\t0\t\nbad\t5\t2\t\nbad\t1\t1\t\nbad\t2\t1\t\nnone\t0\t0\t\nmounts\t0\t0\tonly root may mount\n", string(text))
}
