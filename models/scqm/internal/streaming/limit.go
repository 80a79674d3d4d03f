package streaming

import (
	"context"
	"time"

	"github.com/scqm/scqm/framework"
)

// timed is a time limit that holds inside reads.
type timed struct {
	limits framework.Options
	costed bool // the run has a cost, without which it has no result
	last   bool // a read has begun after the limit
}

// verdictShare is the part of a time limit for which reads may go on after it to judge a result, and
// leastVerdict how long they may at least.
const verdictShare, leastVerdict = 10, time.Second

// within returns the context of a read. The first one after the limit, if it is a pass, is read to its end, as
// it tells the objective, and with it the residuals, of the point that is returned.
func (t *timed) within(ctx context.Context, pass bool) (context.Context, context.CancelFunc) {
	after := t.limits.OutOfTime()
	if !t.costed || after && pass && !t.last {
		t.last = after
		return ctx, func() {}
	}
	return t.limits.WithTimeLimit(ctx, max(t.limits.TimeLimit/verdictShare, leastVerdict))
}
