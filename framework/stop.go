package framework

import (
	"context"
	"iter"
	"math"
	"slices"
)

// Stop decides, at the start and after every iteration, whether a run ends and with which status. It gets the records
// so far, of which only the last, current one has a State. Package stop has the usual rules. The result is only
// [Converged] if the rule also holds with the cost and the gradient computed again at the returned point. For
// [Stalled] the point is examined as after any stall.
type Stop func(history []Record) (as Status, ends bool)

// Or ends a run when either rule does, with the status of the first rule that does.
func (s Stop) Or(t Stop) Stop {
	return func(history []Record) (Status, bool) {
		if as, ends := s(history); ends {
			return as, true
		}
		return t(history)
	}
}

// And ends a run when both rules do, with the status of s.
func (s Stop) And(t Stop) Stop {
	return func(history []Record) (Status, bool) {
		as, ends := s(history)
		_, too := t(history)
		return as, ends && too
	}
}

// stops applies the Stop of the options.
func (r *run) stops() (Status, bool) {
	if r.options.Stop == nil || len(r.history) == 0 {
		return 0, false
	}
	now := &r.history[len(r.history)-1]
	now.State = r.state
	as, ends := r.options.Stop(r.history)
	now.State = nil
	if r.byStop = ends; ends && as == Failed {
		as = Stopped
	}
	return as, ends
}

// stopHolds reports whether the Stop of the options calls the returned point converged.
func (r *run) stopHolds(res *Result) bool {
	n := len(r.history)
	if !r.byStop || n == 0 || r.mistake != "" {
		return false
	}
	last := r.history[n-1]
	last.Cost, last.GradientNorm, last.State = res.Cost/r.by, slices.Max(res.Stationarity)/r.by, r.state
	as, ends := r.options.Stop(append(r.history[:n-1:n-1], last))
	return ends && as == Converged
}

// step returns the distance from the previous iterate, and stores the current one for the next call.
func (r *run) step() float64 {
	if r.options.Stop == nil {
		return 0
	}
	x, _ := r.state.Iterate()
	if r.last == nil {
		r.last = x.Clone()
		return 0
	}
	r.last.AddScaled(-1, x)
	step := r.last.Norm()
	r.last.CopyFrom(x)
	return step
}

// Iterate runs [Solve] and yields a record of the start and of every iteration, with a copy of the point:
//
//	for r, err := range framework.Iterate(ctx, p, x0, s, o)
//
// A failed run yields its error with the last record. Leaving the loop ends the run.
func Iterate(ctx context.Context, p Problem, x0 Point, s Solver, o Options) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		going, thrown := true, any(nil)
		o.Observers = append(slices.Clip(o.Observers), func(r Record) {
			defer func() {
				if thrown = recover(); thrown != nil {
					going = false
				}
			}()
			x, _ := r.State.Iterate()
			r.Point = x.Clone()
			going = going && yield(r, nil)
		})
		left := Stop(func([]Record) (Status, bool) { return Stopped, !going })
		if o.Stop != nil {
			left = left.Or(o.Stop)
		}
		o.Stop = left
		_, err := Solve(ctx, p, x0, s, o)
		switch {
		case thrown != nil:
			panic(thrown)
		case going && err != nil:
			yield(Record{Cost: math.NaN(), GradientNorm: math.NaN()}, err)
		}
	}
}
