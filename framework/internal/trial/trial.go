// Package trial lets test suites modify the evaluations of a run. A wrapper of the problem would hide its
// capabilities; a trial does not.
package trial

import "context"

// Trial observes every evaluation of a run and may change its cost.
type Trial struct {
	// Before is called before every evaluation.
	Before func()
	// Cost returns the cost that the run gets.
	Cost func(cost float64) float64
}

type key struct{}

// With returns a context whose runs use the trial.
func With(ctx context.Context, t *Trial) context.Context { return context.WithValue(ctx, key{}, t) }

// Of returns the trial of a context; nil for none.
func Of(ctx context.Context) *Trial {
	t, _ := ctx.Value(key{}).(*Trial)
	return t
}

// See calls Before, if there is one. A run must call See before every evaluation.
func (t *Trial) See() {
	if t != nil && t.Before != nil {
		t.Before()
	}
}

// Tell returns the cost of an evaluation for the run.
func (t *Trial) Tell(cost float64) float64 {
	if t != nil && t.Cost != nil {
		return t.Cost(cost)
	}
	return cost
}
