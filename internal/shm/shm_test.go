package shm

import (
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func create(t *testing.T, bytes int) *Segment {
	t.Helper()
	if runtime.GOOS != "linux" {
		_, err := Create(bytes)
		require.ErrorIs(t, err, ErrUnsupported)
		t.Skip("no shared memory on this system")
	}
	s, err := Create(bytes)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

func TestBothSidesSeeTheNumbers(t *testing.T) {
	a := create(t, 4096)
	b, err := Open(a.Path(), a.Len())
	require.NoError(t, err)
	defer b.Close()
	require.NoError(t, a.Release())

	copy(a.Floats(Span(3), 3), []float64{1, 2, 3})
	assert.Equal(t, []float64{1, 2, 3}, b.Floats(Span(3), 3))
	b.Floats(Span(3), 3)[1] = 7
	assert.Equal(t, []float64{1, 7, 3}, a.Floats(Span(3), 3))
}

func TestASegmentCannotBeCutShort(t *testing.T) {
	s := create(t, 1<<16)
	f, err := os.OpenFile(s.Path(), os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	assert.Error(t, f.Truncate(0))
	assert.Error(t, f.Truncate(1<<20))
	assert.Len(t, s.Floats(0, 1<<13), 1<<13)
}

func TestNoPlaceOutsideOfTheSegment(t *testing.T) {
	s := create(t, 128)
	assert.Len(t, s.Floats(64, 8), 8)
	assert.Len(t, s.Floats(128, 0), 0)
	for _, place := range [][2]int{{64, 9}, {-8, 1}, {4, 1}, {136, 0}, {0, -1}, {0, 1 << 62}} {
		assert.Nil(t, s.Floats(place[0], place[1]), place)
	}
}

func TestOpenRefuses(t *testing.T) {
	s := create(t, 4096)
	_, err := Open(s.Path(), 8192)
	assert.ErrorContains(t, err, "has 4096 bytes, want 8192")
	path := s.Path()
	require.NoError(t, s.Release())
	_, err = Open(path, 4096)
	assert.Error(t, err)
	_, err = Create(0)
	assert.Error(t, err)
}

func TestSpan(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 64, 8: 64, 9: 128} {
		assert.Equal(t, want, Span(n), n)
	}
}
