package plugins

import (
	"context"
	"errors"
	"math/bits"
	"sync"

	"github.com/scqm/scqm/internal/shm"
	"github.com/scqm/scqm/plugins/internal/protocol"
)

// leastSegment is the size of the smallest segment in bytes; others are powers
// of two, so that growing batches seldom need new ones.
const leastSegment = 1 << 16

// lane is a segment that both sides have mapped, with a line where the plugin
// has one; one call at a time uses it.
type lane struct {
	id      uint32
	segment *shm.Segment
	line    *line // may be nil
}

func (l *lane) close() {
	l.segment.Close()
	l.line.close()
}

// lanes are the segments of a plugin, as many as there are calls at a time.
type lanes struct {
	mu     sync.Mutex
	plugin *Plugin // nil: no shared memory
	free   []*lane
	last   uint32
}

// enable begins to use shared memory, if the plugin can map a first segment.
func (l *lanes) enable(p *Plugin) error {
	l.plugin = p
	first, err := l.borrow(leastSegment)
	if errors.Is(err, errNoSegment) {
		return nil
	}
	if err == nil {
		l.give(first)
	}
	return err
}

func (l *lanes) usable() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.plugin != nil
}

// borrow returns a lane of at least so many bytes, to be given back. The error
// is errNoSegment where bytes must do, else that of the plugin.
func (l *lanes) borrow(bytes int) (*lane, error) {
	kept, outgrown, err := l.take(bytes)
	if err != nil || kept != nil {
		return kept, err
	}
	if outgrown != nil {
		l.detach(outgrown)
	}
	made, err := l.attach(bytes)
	if err != nil && !errors.Is(err, errNoSegment) {
		return nil, err
	}
	if err != nil && l.count() == 0 {
		l.disable()
	}
	return made, err
}

// take returns a free lane that is large enough. Where there are only smaller
// ones, it returns one of those to be replaced.
func (l *lanes) take(bytes int) (kept, outgrown *lane, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.plugin == nil {
		return nil, nil, errNoSegment
	}
	best := -1
	for i, candidate := range l.free {
		if best < 0 || l.better(candidate, l.free[best], bytes) {
			best = i
		}
	}
	if best < 0 {
		return nil, nil, nil
	}
	chosen := l.free[best]
	l.free = append(l.free[:best], l.free[best+1:]...)
	if chosen.segment.Len() < bytes {
		return nil, chosen, nil
	}
	return chosen, nil, nil
}

// better prefers the smallest lane that is large enough, else the largest.
func (*lanes) better(a, b *lane, bytes int) bool {
	switch x, y := a.segment.Len(), b.segment.Len(); {
	case x >= bytes && y >= bytes:
		return x < y
	default:
		return x > y
	}
}

// attach makes a segment and has the plugin map it.
func (l *lanes) attach(bytes int) (*lane, error) {
	p := l.plugin
	segment, err := shm.Create(max(1<<bits.Len(uint(bytes-1)), leastSegment))
	if err != nil {
		return nil, errNoSegment
	}
	l.mu.Lock()
	l.last++
	made := &lane{id: l.last, segment: segment}
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(p.ctx, p.options.CallTimeout)
	defer cancel()
	_, err = p.rpc.Attach(ctx, &protocol.AttachRequest{Segment: made.id, Path: segment.Path(), Bytes: uint64(segment.Len())})
	if err == nil {
		err = segment.Release()
	} else if refuses(err) {
		err = errNoSegment
	} else {
		err = p.callError(ctx, "attach", p.options.CallTimeout, err)
	}
	if err == nil && p.offer.Line != "" {
		if made.line, err = dial(ctx, p.offer.Line); err != nil {
			err = p.callError(ctx, "attach", p.options.CallTimeout, lineError(err))
		}
	}
	if err != nil {
		segment.Close()
		return nil, err
	}
	return made, nil
}

// detach has the plugin unmap a segment. If that fails, a later call will show.
func (l *lanes) detach(old *lane) {
	ctx, cancel := context.WithTimeout(l.plugin.ctx, l.plugin.options.CallTimeout)
	defer cancel()
	_, _ = l.plugin.rpc.Detach(ctx, &protocol.DetachRequest{Segment: old.id})
	old.close()
}

// give returns a lane that is not used any more.
func (l *lanes) give(back *lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.plugin == nil {
		back.close()
		return
	}
	l.free = append(l.free, back)
}

// count is the number of segments that were ever attached.
func (l *lanes) count() uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last - 1
}

// disable ends the use of shared memory.
func (l *lanes) disable() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.plugin = nil
	for _, unused := range l.free {
		unused.close()
	}
	l.free = nil
}

func (l *lanes) close() { l.disable() }
