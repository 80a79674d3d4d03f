// Package segment keeps the shared memory of a plugin: segments that both sides
// have mapped, each with a frame connection where the plugin serves one.
package segment

import (
	"errors"
	"math/bits"
	"sync"

	"github.com/scqm/scqm/internal/shm"
	"github.com/scqm/scqm/plugins/internal/frame"
)

// MinBytes is the size of the smallest segment; others are powers of two, so
// that growing batches seldom need new ones.
const MinBytes = 1 << 16

// ErrNone says that a plugin cannot map a segment; bytes do as well.
var ErrNone = errors.New("the plugin cannot map shared memory")

// Segment is used by one call at a time.
type Segment struct {
	*shm.Segment
	// ID is its number in the protocol.
	ID uint32
	// Conn takes calls that use it; nil where calls go by gRPC.
	Conn *frame.Conn
}

// Close unmaps the segment and closes its connection.
func (s *Segment) Close() {
	s.Segment.Close()
	s.Conn.Close()
}

// Peer is a plugin as its pool sees it.
type Peer interface {
	// Attach has the plugin map a segment and connects to it, if it serves
	// frames. The error is ErrNone where the plugin refuses; any other is
	// returned to those who borrow.
	Attach(*Segment) error
	// Detach has the plugin unmap a segment.
	Detach(*Segment)
}

// Pool holds the segments of a plugin, as many as there are calls at a time. The
// zero value has none to give.
type Pool struct {
	mu   sync.Mutex
	peer Peer // nil: no shared memory
	free []*Segment
	last uint32
}

// Enable begins to use shared memory, if the plugin can map a first segment.
func (p *Pool) Enable(peer Peer) error {
	p.mu.Lock()
	p.peer = peer
	p.mu.Unlock()
	first, err := p.Borrow(MinBytes)
	switch {
	case errors.Is(err, ErrNone):
		p.Close()
		return nil
	case err == nil:
		p.Return(first)
	}
	return err
}

// Usable reports whether there is shared memory.
func (p *Pool) Usable() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.peer != nil
}

// Free is the number of segments that nobody uses.
func (p *Pool) Free() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.free)
}

// Borrow returns a segment of at least so many bytes, to be given back. The
// error is ErrNone where bytes must do, else that of the plugin.
func (p *Pool) Borrow(bytes int) (*Segment, error) {
	peer, found := p.take(bytes)
	if peer == nil {
		return nil, ErrNone
	}
	if found != nil && found.Len() >= bytes {
		return found, nil
	}
	if found != nil {
		peer.Detach(found) // where it fails, a later call will show
		found.Close()
	}
	return p.attach(peer, bytes)
}

// take returns a free segment that is large enough, else the largest, to be
// replaced, or nil where none is free; and the plugin, nil for no shared memory.
func (p *Pool) take(bytes int) (Peer, *Segment) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.peer == nil || len(p.free) == 0 {
		return p.peer, nil
	}
	best := 0
	for i, candidate := range p.free {
		if isBetter(candidate, p.free[best], bytes) {
			best = i
		}
	}
	chosen := p.free[best]
	p.free = append(p.free[:best], p.free[best+1:]...)
	return p.peer, chosen
}

// isBetter prefers the smallest segment that is large enough, else the largest.
func isBetter(a, b *Segment, bytes int) bool {
	switch x, y := a.Len(), b.Len(); {
	case x >= bytes && y >= bytes:
		return x < y
	default:
		return x > y
	}
}

// attach makes a segment and has the plugin map it.
func (p *Pool) attach(peer Peer, bytes int) (*Segment, error) {
	memory, err := shm.Create(max(1<<bits.Len(uint(bytes-1)), MinBytes))
	if err != nil {
		return nil, ErrNone
	}
	p.mu.Lock()
	p.last++
	made := &Segment{Segment: memory, ID: p.last}
	p.mu.Unlock()
	if err := peer.Attach(made); err != nil {
		made.Close()
		return nil, err
	}
	return made, nil
}

// Return gives back a segment that is not used any more.
func (p *Pool) Return(back *Segment) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.peer == nil {
		back.Close()
		return
	}
	p.free = append(p.free, back)
}

// Close ends the use of shared memory. Segments that are in use are closed when
// they are given back.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.peer = nil
	for _, unused := range p.free {
		unused.Close()
	}
	p.free = nil
}
