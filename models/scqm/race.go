package scqm

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
)

// heats are the rounds of successive halving of several starts. After the given number of evaluations of each start,
// one in the given number of starts continues, at least two in all. On ten pairs of digits, tuned over 400 schedules,
// the best of 32 starts is at most .04 % above the best of 32 full runs, at a seventh of the passes. For any schedule,
// the best of many starts shows within ten passes.
var heats = []struct{ evaluations, of int }{{5, 6}, {14, 16}}

// finalists is the least number of starts that run to the end.
const finalists = 2

// startRun is the run from one start. Its result is nil if the run failed.
type startRun interface {
	outcome() (*framework.Result, finding)
}

// contest compares the runs from several starts by successive halving.
type contest[R startRun] struct {
	count   int
	enough  int // how many run to the end, more if the best folds; 0 stands for finalists and start 0
	options framework.Options
	run     func(k int, o framework.Options) (R, error)

	counts framework.Counts // totals over all runs
	best   R
	found  finding // criterion of the best run
	winner int
	early  bool              // the best run was ended early
	last   *framework.Result // error of the last run
	err    error             // error of the best run, or of the last run if none has a result

	done int // number of runs to the end
}

// bestStart returns the best run from several starts (see [finding.beats]) with a note on the others. Successive
// halving chooses the few that run to the end. At least enough starts run to the end; 0 stands for [finalists], and
// then the first start is always one of them. Counts and time are totals over all runs. The time limit applies to the
// total, other limits to each run. A failed start is an error only if all fail.
func bestStart[R startRun](count, enough int, o framework.Options, run func(k int, o framework.Options) (R, error)) (best R, note string, err error) {
	c := contest[R]{count: count, enough: enough, options: o, run: run}
	order, finals := c.race()
	for _, k := range order {
		if c.over() || c.done >= finals && !c.found.folded() {
			break
		}
		c.try(k, 0)
	}
	result, _ := c.best.outcome()
	if result == nil || count == 1 {
		return c.best, "", c.err
	}
	if c.early {
		result.Status, result.Message = c.last.Status, c.last.Message
		if result.Status != framework.Cancelled {
			result.Status, result.Message = framework.TimeLimit, fmt.Sprintf("the time limit of %v came before a start had run to the end", o.TimeLimit)
		}
	}
	result.Counts.Evaluations, result.Counts.Passes = c.counts.Evaluations, c.counts.Passes
	result.Elapsed = max(result.Elapsed, o.Elapsed())
	if enough > 0 {
		return c.best, "", c.err
	}
	return c.best, fmt.Sprintf("the best of %d starts, number %d; %d ran to the end", count, c.winner+1, c.done), c.err
}

// race ranks the starts after a few evaluations of each. It returns their numbers in that order, and how many of the
// leading ones run to the end.
func (c *contest[R]) race() (order []int, finals int) {
	order = make([]int, c.count)
	for k := range order {
		order[k] = k
	}
	finals = c.count
	finalists := cmp.Or(c.enough, finalists)
	for _, h := range heats {
		if finals <= finalists || c.options.MaxEvaluations > 0 && c.options.MaxEvaluations <= h.evaluations {
			break
		}
		found := make([]finding, c.count)
		for _, k := range order[:finals] {
			if c.over() {
				return order, finals
			}
			found[k] = c.try(k, h.evaluations)
		}
		slices.SortStableFunc(order[:finals], func(a, b int) int { return found[a].compare(found[b]) })
		finals = max(finalists, (c.count+h.of-1)/h.of)
		if at := slices.Index(order, 0); at >= finals && c.enough == 0 { // more starts are never worse than one
			order = slices.Insert(slices.Delete(order, at, at+1), finals, 0)
			finals++
		}
	}
	return order, finals
}

// over reports whether a run was cancelled or no time is left for another.
func (c *contest[R]) over() bool {
	return c.last != nil && (c.last.Status == framework.Cancelled || c.options.OutOfTime())
}

// try runs start k for the given number of evaluations, or without this limit if the number is 0.
func (c *contest[R]) try(k, evaluations int) finding {
	o := c.options
	if evaluations > 0 {
		o.MaxEvaluations = evaluations
	}
	r, err := c.run(k, o)
	result, f := r.outcome()
	best, _ := c.best.outcome()
	if result == nil {
		if best == nil {
			c.err = err
		}
		return finding{cost: math.Inf(1)}
	}
	c.last = result
	c.counts.Evaluations += result.Counts.Evaluations
	c.counts.Passes += result.Counts.Passes
	if evaluations == 0 {
		c.done++
	}
	first := c.early && evaluations == 0 && !c.over()
	if best == nil || first || f.beats(c.found) {
		c.best, c.found, c.winner, c.early, c.err = r, f, k, evaluations > 0, err
	}
	return f
}
