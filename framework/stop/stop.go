// Package stop has stopping rules: values for the field Stop of framework.Options, which combine with Or and And.
// Each rule states the status with which a run ends. Begin with [Gradient].
package stop

import (
	"time"

	"github.com/scqm/scqm/framework"
)

// Gradient ends a run as converged when the largest Riemannian gradient norm of a block is at most norm, an absolute
// tolerance. It never ends the run of a solver that does not report its gradient.
func Gradient(norm float64) framework.Stop {
	return last(framework.Converged, func(r framework.Record) bool { return r.GradientNorm <= norm })
}

// Decrease ends a run as stalled when each of the given number of last iterations lowers the cost by no more than the
// given amount.
func Decrease(least float64, iterations int) framework.Stop {
	return falls(iterations, func(fall, _ float64) bool { return fall <= least })
}

// RelativeDecrease is Decrease relative to the fall of the cost since the start.
func RelativeDecrease(least float64, iterations int) framework.Stop {
	return falls(iterations, func(fall, whole float64) bool { return fall <= least*whole })
}

// falls ends a run as stalled after the given number of small iterations in a row.
func falls(iterations int, small func(fall, whole float64) bool) framework.Stop {
	return func(h []framework.Record) (framework.Status, bool) {
		n := len(h) - 1
		if n < max(iterations, 1) {
			return framework.Stalled, false
		}
		for i := range max(iterations, 1) {
			if !small(h[n-i-1].Cost-h[n-i].Cost, h[0].Cost-h[n-i-1].Cost) {
				return framework.Stalled, false
			}
		}
		return framework.Stalled, true
	}
}

// Step ends a run as stalled when an iteration moves the point by no more than length, in its coordinates.
func Step(length float64) framework.Stop {
	return last(framework.Stalled, func(r framework.Record) bool { return r.Iteration > 0 && r.Step <= length })
}

// Iterations ends a run after the given number of iterations.
func Iterations(most int) framework.Stop {
	return last(framework.MaxIterations, func(r framework.Record) bool { return r.Iteration >= most })
}

// Time ends a run at the first iteration after the given time.
func Time(most time.Duration) framework.Stop {
	return last(framework.TimeLimit, func(r framework.Record) bool { return r.Elapsed >= most })
}

// Cost ends a run as stopped at a cost of at most target.
func Cost(target float64) framework.Stop {
	return last(framework.Stopped, func(r framework.Record) bool { return r.Cost <= target })
}

// last applies a rule to the last record only.
func last(as framework.Status, ends func(framework.Record) bool) framework.Stop {
	return func(h []framework.Record) (framework.Status, bool) { return as, ends(h[len(h)-1]) }
}
