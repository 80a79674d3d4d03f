package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/scqm/scqm/internal/quote"
)

// clockSlack is the tolerance in comparing deadlines. The plugin is told the deadline
// and may see it pass this much earlier.
const clockSlack = 100 * time.Millisecond

// fail stores err unless an earlier failure is stored. All further calls return the stored failure, and so does fail.
func (p *Plugin) fail(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure == nil {
		p.failure = err
	}
	return p.failure
}

// failed returns the error that ended the plugin. If there is none, it returns and
// clears the pending error of an earlier call that could not return it.
func (p *Plugin) failed() error {
	if err := p.terminal(); err != nil && p.successor(err) == nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.pending
	p.pending = nil
	return err
}

// lastFailure is like failed, but does not clear the pending error.
func (p *Plugin) lastFailure() error {
	failure := p.terminal()
	next := p.successor(failure)
	p.mu.Lock()
	pending := p.pending
	p.mu.Unlock()
	if next != nil && pending == nil {
		return next.lastFailure()
	}
	return cmp.Or(failure, pending)
}

// terminal returns the error because of which no further calls are possible, or nil.
func (p *Plugin) terminal() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failure
}

// postpone stores an error that the next call returns.
func (p *Plugin) postpone(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pending == nil {
		p.pending = err
	}
}

// wrong ends the plugin because its answer violates the protocol, and returns the error.
func (p *Plugin) wrong(act string, cause error) error {
	p.kill()
	return p.fail(&Error{p.name, act, ErrReply, cause.Error(), p.process.LastWords()})
}

// callError returns a descriptive error for a failed call. It ends the plugin, unless
// the plugin itself reported the error.
func (p *Plugin) callError(ctx context.Context, act string, limit time.Duration, err error) error {
	if p.ctx.Err() != nil {
		return fmt.Errorf("plugins: %s: %s: %w", p.name, act, p.ctx.Err())
	}
	// One call at a time: otherwise other calls would take the kill for a crash.
	p.attributing.Lock()
	defer p.attributing.Unlock()
	if earlier := p.terminal(); earlier != nil {
		return earlier
	}
	e := &Error{Plugin: p.name, Act: act, Kind: ErrReply}
	s := status.Convert(err)
	switch s.Code() {
	case codes.DeadlineExceeded:
		e.Kind, e.Detail = ErrTimeout, fmt.Sprintf("no answer within %v; it was killed", limit)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) > clockSlack {
			e.Kind, e.Detail = ErrReply, "it reports a deadline that has not passed"
		}
	case codes.Unavailable, codes.Canceled:
		e.Detail = "its connection does not work: " + quote.Text(s.Message())
		ended := p.endsSoon()
		p.kill() // removing what an ended plugin left may take longer than that
		if ended || p.process.EndedAlone() {
			e.Kind, e.Detail = ErrCrashed, fmt.Sprintf("it ended (%v)", p.process.EndState())
		}
	case codes.ResourceExhausted:
		e.Detail = "its answer is too long: " + quote.Text(s.Message())
	case codes.Unimplemented, codes.Internal:
		e.Detail = "its answer cannot be read: " + quote.Text(s.Message())
	default:
		e.Kind, e.Detail = ErrRefused, quote.Text(s.Message())
		return e
	}
	p.kill()
	e.LastWords = p.process.LastWords()
	return p.fail(e)
}

// successor returns the plugin that replaces this one after err, or nil if there is none. The first
// such error starts it, from the same file. Concurrent calls wait until it has started.
func (p *Plugin) successor(err error) *Plugin {
	if p.again || !errors.Is(err, ErrCrashed) {
		return nil
	}
	p.revive.Do(func() {
		o := p.options
		o.SHA256, o.Params = p.sha256, p.params
		next, err := (&Plugin{ctx: p.ctx, options: o, name: p.name, path: p.path, again: true}).open()
		if err == nil {
			p.next.Store(next)
		}
	})
	return p.next.Load()
}

// Restarts returns how often the plugin was restarted: 0 or 1.
func (p *Plugin) Restarts() int {
	if p.next.Load() == nil {
		return 0
	}
	return 1
}
