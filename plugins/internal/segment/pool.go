// Package segment manages the shared memory of a plugin. A segment is mapped by both
// sides and has its own frame connection if the plugin supports frames.
package segment

import (
	"errors"
	"math/bits"
	"sync"

	"github.com/scqm/scqm/internal/shm"
	"github.com/scqm/scqm/plugins/internal/frame"
)

// MinBytes is the smallest size of a segment. Sizes are powers of two, so that growing
// batches seldom need a new segment.
const MinBytes = 1 << 16

// ErrNone means that the plugin cannot map a segment. Arrays can be sent as bytes instead.
var ErrNone = errors.New("the plugin cannot map shared memory")

// Segment is a piece of shared memory that one call at a time uses.
type Segment struct {
	*shm.Segment
	// ID is the number of the segment in the protocol.
	ID uint32
	// Conn carries the calls that use the segment. It is nil if they use gRPC.
	Conn *frame.Conn
}

// Close unmaps the segment and closes its connection.
func (s *Segment) Close() {
	s.Segment.Close()
	s.Conn.Close()
}

// Peer is the interface of a plugin that a Pool uses.
type Peer interface {
	// Attach makes the plugin map a segment, and connects to it if the plugin supports
	// frames. The error is ErrNone if the plugin refuses. Borrow returns any other error
	// to its caller.
	Attach(*Segment) error
	// Detach makes the plugin unmap a segment.
	Detach(*Segment)
}

// Pool holds the segments of a plugin, one for each concurrent call. The zero value has
// no segments.
type Pool struct {
	mu   sync.Mutex
	peer Peer // nil if shared memory is not used
	free []*Segment
	last uint32
}

// Enable turns on shared memory if the plugin can map a first segment.
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

// Usable reports whether the pool has shared memory.
func (p *Pool) Usable() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.peer != nil
}

// Free returns the number of unused segments.
func (p *Pool) Free() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.free)
}

// Borrow returns a segment of at least the given size, which the caller must give back with Return.
// The error is ErrNone if arrays must be sent as bytes, else the error of the plugin.
func (p *Pool) Borrow(bytes int) (*Segment, error) {
	peer, found := p.take(bytes)
	if peer == nil {
		return nil, ErrNone
	}
	if found != nil && found.Len() >= bytes {
		return found, nil
	}
	if found != nil {
		peer.Detach(found) // a later call reports a failure
		found.Close()
	}
	return p.attach(peer, bytes)
}

// take removes the smallest free segment that is large enough, else the largest free one, which is to
// be replaced. It returns no segment if none is free, and no plugin if shared memory is not used.
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

// isBetter reports whether a fits better than b: the smallest segment that is large enough is best, else the largest.
func isBetter(a, b *Segment, bytes int) bool {
	switch x, y := a.Len(), b.Len(); {
	case x >= bytes && y >= bytes:
		return x < y
	default:
		return x > y
	}
}

// attach creates a segment and makes the plugin map it.
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

// Return gives a borrowed segment back to the pool.
func (p *Pool) Return(back *Segment) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.peer == nil {
		back.Close()
		return
	}
	p.free = append(p.free, back)
}

// Close turns off shared memory. It closes free segments now and borrowed segments when
// they are returned.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.peer = nil
	for _, unused := range p.free {
		unused.Close()
	}
	p.free = nil
}
