package memory

import (
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "512M": 512 << 20, "4g": 4 << 30, "4GB": 4 << 30, "4GiB": 4 << 30, "1.5 K": 1536, " 2T ": 2 << 40, "100b": 100,
	} {
		got, err := Parse(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "0", "-1G", "G", "4X", "4 GG", "1e300G", "NaN", "Inf", "0.1", "4G5", "0x10"} {
		_, err := Parse(text)
		assert.Error(t, err, text)
	}
}

func TestFormat(t *testing.T) {
	for bytes, want := range map[float64]string{
		0: "0 bytes", 1023: "1023 bytes", 1536: "1.5 KiB", 64 << 20: "64 MiB", 100 << 30: "100 GiB", math.Inf(1): "an endless amount",
	} {
		assert.Equal(t, want, Format(bytes))
	}
}

// hold sets a ceiling for a test, above what the heap holds now.
func hold(t *testing.T, above int64) {
	t.Helper()
	runtime.GC()
	var m usage
	m.read()
	SetCeiling(m.objects+above, "--memory")
	t.Cleanup(func() { SetCeiling(0, "") })
}

func TestReserve(t *testing.T) {
	hold(t, 100<<20)
	a, err := Reserve("10 rows", 60<<20, "take fewer")
	require.NoError(t, err)
	assert.Equal(t, int64(60<<20), Reserved())
	_, err = Reserve("20 rows", 60<<20, "take fewer")
	require.ErrorIs(t, err, ErrTooLarge)
	assert.Regexp(t, `^20 rows take about 60 MiB of memory, and [1-4][0-9] MiB is left by --memory \(.*iB\); take fewer, or raise --memory$`, err.Error())
	a.Release()
	a.Release()
	assert.Zero(t, Reserved())
	require.NoError(t, Check("20 rows", 60<<20, ""))
	assert.Zero(t, Reserved())
}

// What was reserved and has been set aside since is not counted twice.
func TestReservedMemoryIsTakenOnce(t *testing.T) {
	hold(t, 100<<20)
	a, err := Reserve("a", 50<<20, "")
	require.NoError(t, err)
	defer a.Release()
	taken := make([]byte, 48<<20)
	require.NoError(t, Check("b", 30<<20, ""))
	require.Error(t, Check("b", 60<<20, ""))
	runtime.KeepAlive(taken)
}

// Garbage is collected before work is refused.
func TestGarbageIsNotInTheWay(t *testing.T) {
	hold(t, 100<<20)
	for range 20 {
		garbage := make([]byte, 40<<20)
		runtime.KeepAlive(garbage)
		require.NoError(t, Check("work", 50<<20, ""))
	}
}

func TestSizesThatOverflow(t *testing.T) {
	for _, bytes := range []float64{1e30, math.Inf(1), math.NaN()} {
		err := Check("rows", bytes, "")
		if runtime.GOOS == "linux" {
			require.ErrorIs(t, err, ErrTooLarge)
		}
	}
	require.NoError(t, Check("rows", small-1, ""), "every start leaves as much")
}

func TestRestrainKeepsALowerLimit(t *testing.T) {
	Restrain(0, 0)
	for _, b := range Bounds() {
		assert.GreaterOrEqual(t, b.Free, int64(0), b.Name)
	}
}
