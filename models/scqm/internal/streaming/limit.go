package streaming

import (
	"context"
	"time"

	"github.com/scqm/scqm/framework"
)

// timed is a time limit that also ends reads.
type timed struct {
	limits framework.Options
	costed bool // the run has a cost, without which it has no result
}

// Reads that make a result may exceed a time limit by 1/graceShare of it, at least by leastGrace: those before
// the first cost and those that judge the point found.
const graceShare, leastGrace = 10, time.Second / 2

// Grace returns the time after a limit for reads that make a result.
func Grace(o framework.Options) time.Duration { return max(o.TimeLimit/graceShare, leastGrace) }

// within returns the context of a read.
func (t *timed) within(ctx context.Context) (context.Context, context.CancelFunc) {
	o, grace := t.limits, Grace(t.limits)
	if o.TimeLimit > 0 && !t.costed {
		o.TimeLimit, grace = o.TimeLimit+grace, 0
	}
	return o.WithTimeLimit(ctx, grace)
}

// SetLimits sets the time limit of all reads; the options have a Begin.
func (p *Problem) SetLimits(o framework.Options) { p.timed = timed{limits: o} }
