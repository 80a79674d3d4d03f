package segment

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/shm"
)

// recorder is a plugin that maps what it is asked to, unless it has an error.
type recorder struct {
	attached, detached []uint32
	err                error
}

func (r *recorder) Attach(s *Segment) error {
	if r.err == nil {
		r.attached = append(r.attached, s.ID)
	}
	return r.err
}

func (r *recorder) Detach(s *Segment) { r.detached = append(r.detached, s.ID) }

func needSharedMemory(t *testing.T) {
	t.Helper()
	s, err := shm.Create(MinBytes)
	if err != nil {
		t.Skip("no shared memory here")
	}
	require.NoError(t, s.Close())
}

func borrow(t *testing.T, p *Pool, bytes int) *Segment {
	t.Helper()
	s, err := p.Borrow(bytes)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, s.Len(), bytes)
	return s
}

// A segment is used again where it fits, the smallest first, and replaced where
// it does not.
func TestSegmentsAreUsedAgain(t *testing.T) {
	needSharedMemory(t)
	plugin, p := &recorder{}, &Pool{}
	require.NoError(t, p.Enable(plugin))
	defer p.Close()
	assert.True(t, p.Usable())
	small, large := borrow(t, p, 100), borrow(t, p, 3*MinBytes)
	assert.Equal(t, []uint32{1, 2}, plugin.attached)
	p.Return(large)
	p.Return(small)
	assert.Equal(t, small, borrow(t, p, MinBytes))
	assert.Equal(t, large, borrow(t, p, 100))
	p.Return(small)
	p.Return(large)
	larger := borrow(t, p, 5*MinBytes)
	assert.Equal(t, []uint32{1, 2, 3}, plugin.attached)
	assert.Equal(t, []uint32{2}, plugin.detached, "the largest that is too small is replaced")
	p.Return(larger)
	assert.Equal(t, 2, p.Free())
}

// A plugin that maps no first segment gets none; one that refuses another keeps
// those it has.
func TestPluginsThatRefuse(t *testing.T) {
	needSharedMemory(t)
	p := &Pool{}
	require.NoError(t, p.Enable(&recorder{err: ErrNone}))
	assert.False(t, p.Usable())
	plugin := &recorder{}
	require.NoError(t, p.Enable(plugin))
	defer p.Close()
	plugin.err = ErrNone
	first := borrow(t, p, 1)
	_, err := p.Borrow(1)
	assert.ErrorIs(t, err, ErrNone)
	assert.True(t, p.Usable())
	plugin.err = errors.New("crashed")
	_, err = p.Borrow(1)
	assert.Equal(t, plugin.err, err)
	p.Return(first)
	assert.Equal(t, 1, p.Free())
}

// What is given back after the end is closed, and there is no more.
func TestPoolsThatAreClosed(t *testing.T) {
	needSharedMemory(t)
	p := &Pool{}
	require.NoError(t, p.Enable(&recorder{}))
	s := borrow(t, p, 1)
	p.Close()
	p.Return(s)
	assert.Zero(t, p.Free())
	_, err := p.Borrow(1)
	assert.ErrorIs(t, err, ErrNone)
}
