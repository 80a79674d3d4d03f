package plugins

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/scqm/scqm/internal/quote"
)

// clockSlack is how much before the deadline the plugin, which is told it, may
// see it pass.
const clockSlack = 100 * time.Millisecond

// fail makes all further calls return the first failure, and returns it.
func (p *Plugin) fail(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure == nil {
		p.failure = err
	}
	return p.failure
}

// failed returns why no calls are possible any more, or the error of an earlier
// call that could not return it.
func (p *Plugin) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure != nil {
		return p.failure
	}
	err := p.pending
	p.pending = nil
	return err
}

// lastFailure is like failed, but leaves the error for the next call.
func (p *Plugin) lastFailure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure != nil {
		return p.failure
	}
	return p.pending
}

// terminal returns why no calls are possible any more.
func (p *Plugin) terminal() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failure
}

// postpone keeps an error for the next call.
func (p *Plugin) postpone(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pending == nil {
		p.pending = err
	}
}

// wrong reports an answer that breaks the protocol and ends the plugin.
func (p *Plugin) wrong(act string, cause error) error {
	p.kill()
	return p.fail(&Error{p.name, act, ErrReply, cause.Error(), p.process.LastWords()})
}

// callError turns the error of a call into one that says what happened. Except
// where the plugin itself reports an error, it is ended.
func (p *Plugin) callError(ctx context.Context, act string, limit time.Duration, err error) error {
	if p.ctx.Err() != nil {
		return fmt.Errorf("plugins: %s: %s: %w", p.name, act, p.ctx.Err())
	}
	// One at a time: what other calls see is that this one kills the plugin.
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
		p.kill() // what clears away after a plugin that ended may take longer than that
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
