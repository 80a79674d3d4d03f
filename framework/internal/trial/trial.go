// Package trial lets law suites interfere with the evaluations of a run, whatever the
// capabilities of the problem, which a wrapper of it would hide.
package trial

import "context"

// Trial sees every evaluation of a run and may change its cost.
type Trial struct {
	// Before is called before every evaluation.
	Before func()
	// Cost returns the cost that the run is told.
	Cost func(cost float64) float64
}

type key struct{}

// With returns a context whose runs are tried.
func With(ctx context.Context, t *Trial) context.Context { return context.WithValue(ctx, key{}, t) }

// Of returns the trial of a context; nil for none.
func Of(ctx context.Context) *Trial {
	t, _ := ctx.Value(key{}).(*Trial)
	return t
}

// See is called before an evaluation.
func (t *Trial) See() {
	if t != nil && t.Before != nil {
		t.Before()
	}
}

// Tell returns the cost of an evaluation.
func (t *Trial) Tell(cost float64) float64 {
	if t != nil && t.Cost != nil {
		return t.Cost(cost)
	}
	return cost
}
