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

// Reads that judge a result may exceed a time limit by 1/verdictShare of it, at least by leastVerdict.
const verdictShare, leastVerdict = 10, time.Second

// within returns the context of a read.
func (t *timed) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if !t.costed {
		return ctx, func() {}
	}
	return t.limits.WithTimeLimit(ctx, max(t.limits.TimeLimit/verdictShare, leastVerdict))
}
