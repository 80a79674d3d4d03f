package framework

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/scqm/scqm/framework/internal/trial"
)

// maxNonFinite is the number of costs in a row that may be NaN or Inf.
const maxNonFinite = 5

// Counts says how much work a run has done.
type Counts struct {
	// Evaluations of the cost. Evaluations in parts add up to whole ones.
	Evaluations int
	// Passes counts the work in evaluations of all residuals: a cost is one
	// pass, a gradient is one more, a product with the Hessian is one, parts of the
	// residuals count their share.
	Passes float64
	// Hessians counts the products of second derivatives that a problem made.
	// Those by differences of gradients count as the evaluations they take.
	Hessians int
	// part is what was counted in parts of evaluations and does not yet make up a whole one.
	part float64
}

// Evaluator is a problem under a budget: it counts, it ends the run when the
// budget is used up or the context is done, and it watches for costs that are
// not finite. Solvers evaluate through it only.
type Evaluator struct {
	problem Problem
	blocks  []Block

	ctx      context.Context
	deadline time.Time // zero: none
	limit    int       // 0: none
	stopped  Status    // why errStop was returned

	firstOrder bool         // see Options.FirstOrder
	trial      *trial.Trial // of a law suite; nil else
	poisoned   bool         // the first gradient was

	counts    Counts
	nonFinite int
	last      Point // where Evaluate was called last
	lastCost  float64
	lastValid bool

	differences gradientDifferences
}

// NewEvaluator returns an evaluator without a budget, for driving a solver step
// by step. Where the context is done, evaluations return an error.
func NewEvaluator(ctx context.Context, p Problem) *Evaluator {
	return newEvaluator(ctx, p, Options{})
}

func newEvaluator(ctx context.Context, p Problem, o Options) *Evaluator {
	e := &Evaluator{problem: p, blocks: p.Blocks(), ctx: ctx, limit: o.MaxEvaluations, firstOrder: o.FirstOrder, trial: trial.Of(ctx)}
	if o.TimeLimit > 0 {
		e.deadline = o.Begin.Add(o.TimeLimit)
	}
	e.last = NewPoint(e.blocks)
	return e
}

// FirstOrder reports whether the run goes by the first order alone; see
// [Options].FirstOrder.
func (e *Evaluator) FirstOrder() bool { return e.firstOrder }

// Problem returns the problem, for its optional capabilities.
func (e *Evaluator) Problem() Problem { return e.problem }

// Blocks describes the domain.
func (e *Evaluator) Blocks() []Block { return e.blocks }

// Counts returns the work done so far.
func (e *Evaluator) Counts() Counts { return e.counts }

// Evaluate returns the cost at x and writes the Euclidean gradients asked for.
// A cost that is not finite is returned as +Inf, so that every test for
// decrease fails; five in a row are an error.
func (e *Evaluator) Evaluate(grad, x Point) (float64, error) {
	if err := e.admit(1); err != nil {
		return math.Inf(1), err
	}
	e.lastValid = false
	if !x.Finite() { // a bounded loss would hide it
		return e.judgeCost(math.NaN())
	}
	cost, err := e.call(grad, x)
	if err != nil {
		return math.Inf(1), e.failure(err)
	}
	e.last.CopyFrom(x)
	e.lastCost, e.lastValid = cost, true
	e.counts.Evaluations++
	e.counts.Passes++
	if cost, err = e.judgeCost(cost); err != nil || math.IsInf(cost, 0) {
		return cost, err
	}
	if grad == nil {
		return cost, nil
	}
	e.counts.Passes++
	return cost, e.checkGradient(grad)
}

// call evaluates the problem, whatever the budget.
func (e *Evaluator) call(grad, x Point) (float64, error) {
	e.trial.See()
	first := e.poison(grad)
	cost, err := e.problem.Evaluate(grad, x)
	if err == nil && first {
		err = e.written(grad, cost)
	}
	return e.trial.Tell(cost), err
}

// unwritten is a NaN that no computation gives.
var unwritten = math.Float64frombits(0x7ff8_dead_beef_0002)

// poison fills the first gradient of a run, to find what is never written.
func (e *Evaluator) poison(grad Point) bool {
	if grad == nil || e.poisoned {
		return false
	}
	e.poisoned = true
	for _, g := range grad {
		for i := range g {
			g[i] = unwritten
		}
	}
	return true
}

// written refuses a problem that leaves entries of its gradient as they are.
func (e *Evaluator) written(grad Point, cost float64) error {
	for k, g := range grad {
		for i, v := range g {
			if math.Float64bits(v) == math.Float64bits(unwritten) && cost-cost == 0 {
				return fmt.Errorf("%w: entry %d of the gradient of block %s is not written, or added to what was there", ErrInvalid, i, e.blocks[k].Name)
			}
		}
	}
	return nil
}

// judgeCost returns a finite cost as it is and any other as +Inf, with an error
// where too many in a row were of that kind.
func (e *Evaluator) judgeCost(cost float64) (float64, error) {
	if !math.IsNaN(cost) && !math.IsInf(cost, 0) {
		e.nonFinite = 0
		return cost, nil
	}
	if math.IsInf(cost, -1) {
		return math.Inf(1), e.stop(Unbounded)
	}
	e.nonFinite++
	if e.nonFinite >= maxNonFinite {
		return math.Inf(1), fmt.Errorf("%w: %d evaluations in a row gave NaN or Inf", ErrNonFinite, e.nonFinite)
	}
	return math.Inf(1), nil
}

// Gradient returns the cost at x and writes the gradients asked for. Where x is
// the point evaluated last and the problem is a resumer, this costs one pass
// instead of two and no evaluation.
func (e *Evaluator) Gradient(grad, x Point) (float64, error) {
	r, ok := As[resumer](e.problem)
	if !ok || !e.lastValid || !e.last.Equal(x) {
		return e.Evaluate(grad, x)
	}
	if err := e.admit(0); err != nil {
		return math.Inf(1), err
	}
	first := e.poison(grad)
	err := r.Resume(grad)
	if err == nil && first {
		err = e.written(grad, e.lastCost)
	}
	if err != nil {
		return math.Inf(1), e.failure(err)
	}
	e.counts.Passes++
	return e.lastCost, e.checkGradient(grad)
}

// admit refuses work beyond the budget; more is the number of evaluations
// about to be made.
func (e *Evaluator) admit(more int) error {
	switch {
	case e.ctx.Err() != nil:
		return e.stop(Cancelled)
	case !e.deadline.IsZero() && time.Now().After(e.deadline):
		return e.stop(TimeLimit)
	case e.limit > 0 && e.counts.Evaluations+e.counts.Hessians+more > e.limit:
		return e.stop(MaxEvaluations)
	}
	return nil
}

func (e *Evaluator) stop(s Status) error {
	e.stopped = s
	return errStop
}

// failure tells a problem that gave up because the context is done from one
// that failed.
func (e *Evaluator) failure(err error) error {
	cancelled := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if cancelled && e.ctx.Err() != nil {
		return e.stop(Cancelled)
	}
	if e.outOfTime(err) {
		return e.stop(TimeLimit)
	}
	return fmt.Errorf("evaluation: %w", err)
}

// outOfTime reports whether a problem gave up at the time limit: the error is that of a deadline, and the
// context of the run, which may have one of its own, is not done.
func (e *Evaluator) outOfTime(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) && e.ctx.Err() == nil && !e.deadline.IsZero()
}

func (e *Evaluator) checkGradient(grad Point) error {
	for k, g := range grad {
		if !(Point{g}).Finite() {
			return fmt.Errorf("%w: the gradient of block %s has NaN or Inf at a point of finite cost",
				ErrNonFinite, e.blocks[k].Name)
		}
	}
	return nil
}

// Stationarity returns the largest of the numbers by which the run is judged, at x.
func (e *Evaluator) Stationarity(x Point) (float64, error) {
	if err := e.admit(0); err != nil {
		return math.Inf(1), err
	}
	s, err := e.stationarity(x)
	if err != nil {
		return math.Inf(1), e.failure(fmt.Errorf("stationarity: %w", err))
	}
	return worst(s), nil
}

// stationarity computes one number per block at x, outside of the budget.
func (e *Evaluator) stationarity(x Point) ([]float64, error) {
	s := make([]float64, len(e.blocks))
	if c, ok := As[Certifier](e.problem); ok {
		e.lastValid = false
		e.counts.Passes += 2
		return s, c.Stationarity(s, x)
	}
	grad := NewPoint(e.blocks)
	e.lastValid = false
	if _, err := e.call(grad, x); err != nil {
		return s, err
	}
	e.counts.Passes += 2
	for k, b := range e.blocks {
		b.Gradient(grad[k], x[k], grad[k])
		s[k] = b.Norm(x[k], grad[k])
	}
	return s, nil
}
