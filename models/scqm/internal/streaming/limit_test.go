package streaming

import (
	"context"
	"testing"
	"time"

	"github.com/scqm/scqm/framework"
	"github.com/stretchr/testify/assert"
)

// The time limit holds once a cost is known, but for one pass after it, and then leaves a tenth of it.
func TestTimeOfReads(t *testing.T) {
	deadline := func(k *timed, pass bool) time.Time {
		ctx, cancel := k.within(context.Background(), pass)
		defer cancel()
		at, _ := ctx.Deadline()
		return at
	}
	within, after := framework.Options{TimeLimit: time.Hour}.Begun(), framework.Options{TimeLimit: time.Hour, Begin: time.Now().Add(-2 * time.Hour)}
	assert.Zero(t, deadline(&timed{}, true), "no limit")
	assert.Zero(t, deadline(&timed{limits: within}, true), "no cost yet")
	assert.Equal(t, within.Begin.Add(time.Hour), deadline(&timed{limits: within, costed: true}, true))
	late := &timed{limits: after, costed: true}
	assert.Equal(t, after.Begin.Add(66*time.Minute), deadline(late, false), "nearest points are not read to the end")
	assert.Zero(t, deadline(late, true))
	assert.Equal(t, after.Begin.Add(66*time.Minute), deadline(late, true))
	short := &timed{limits: framework.Options{TimeLimit: time.Second, Begin: after.Begin}, costed: true, last: true}
	assert.Equal(t, after.Begin.Add(2*time.Second), deadline(short, true))
}
