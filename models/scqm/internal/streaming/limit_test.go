package streaming

import (
	"context"
	"testing"
	"time"

	"github.com/scqm/scqm/framework"
	"github.com/stretchr/testify/assert"
)

// Reads before the first cost and those that judge a result have a tenth of the limit more, or half a second.
func TestTimeOfReads(t *testing.T) {
	deadline := func(k *timed) time.Time {
		ctx, cancel := k.within(context.Background())
		defer cancel()
		at, _ := ctx.Deadline()
		return at
	}
	within, after := framework.Options{TimeLimit: time.Hour}.Begun(), framework.Options{TimeLimit: time.Hour, Begin: time.Now().Add(-2 * time.Hour)}
	assert.Zero(t, deadline(&timed{}), "no limit")
	assert.Equal(t, within.Begin.Add(66*time.Minute), deadline(&timed{limits: within}), "no cost yet")
	assert.Equal(t, after.Begin.Add(66*time.Minute), deadline(&timed{limits: after}), "no cost, and no time")
	assert.Equal(t, within.Begin.Add(time.Hour), deadline(&timed{limits: within, costed: true}))
	assert.Equal(t, after.Begin.Add(66*time.Minute), deadline(&timed{limits: after, costed: true}))
	short := &timed{limits: framework.Options{TimeLimit: time.Second, Begin: after.Begin}, costed: true}
	assert.Equal(t, after.Begin.Add(1500*time.Millisecond), deadline(short))
}
