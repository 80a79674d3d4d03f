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
	last   bool // a read has begun after the limit
}

// Reads that judge a result may exceed a time limit by 1/verdictShare of it, at least by leastVerdict.
const verdictShare, leastVerdict = 10, time.Second

// within returns the context of a read. The first read after the limit, if it is a pass, is completed, as it
// gives the objective and the residuals of the returned point.
func (t *timed) within(ctx context.Context, pass bool) (context.Context, context.CancelFunc) {
	after := t.limits.OutOfTime()
	if !t.costed || after && pass && !t.last {
		t.last = after
		return ctx, func() {}
	}
	return t.limits.WithTimeLimit(ctx, max(t.limits.TimeLimit/verdictShare, leastVerdict))
}
