package framework

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/scqm/scqm/framework/internal/trial"
)

// maxNonFinite is the number of costs in a row that may be NaN or Inf.
const maxNonFinite = 5

// Counts is the work that a run has done.
type Counts struct {
	// Evaluations counts evaluations of the cost. Fractions of evaluations add up to whole ones.
	Evaluations int
	// Passes counts the work in evaluations of all residuals. A cost is one pass, a gradient is one more, and a
	// product with the Hessian is one. An evaluation of some residuals counts its fraction.
	Passes float64
	// Hessians counts the Hessian products of a problem. Products by differences of gradients count as evaluations
	// instead.
	Hessians int
	// part is the counted fraction of an evaluation that does not yet make up a whole one.
	part float64
}

// Evaluator is a problem under a budget. It counts evaluations, ends the run when the budget is exhausted or the
// context is done, and checks for costs that are not finite. Solvers evaluate only through it.
type Evaluator struct {
	problem Problem
	blocks  []Block

	ctx      context.Context
	deadline time.Time // zero: none
	limit    int       // 0: none
	stopped  Status    // reason for errStop

	firstOrder bool         // see Options.FirstOrder
	trial      *trial.Trial // of a law suite; otherwise nil
	poisoned   bool         // the first gradient was poisoned

	counts    Counts
	nonFinite int
	last      Point // point of the last Evaluate
	lastCost  float64
	lastValid bool

	differences gradientDifferences
}

// NewEvaluator returns an evaluator without a budget, for running a solver step by step. If the context is done,
// evaluations return an error.
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

// FirstOrder reports whether the run only uses first derivatives; see [Options].FirstOrder.
func (e *Evaluator) FirstOrder() bool { return e.firstOrder }

// Problem returns the problem, for its optional capabilities.
func (e *Evaluator) Problem() Problem { return e.problem }

// Blocks describes the domain.
func (e *Evaluator) Blocks() []Block { return e.blocks }

// Counts returns the work done so far.
func (e *Evaluator) Counts() Counts { return e.counts }

// Evaluate returns the cost at x and writes the requested Euclidean gradients. A cost that is not finite is returned
// as +Inf, so that every test for decrease fails; five in a row are an error.
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

// call evaluates the problem without checking the budget.
func (e *Evaluator) call(grad, x Point) (float64, error) {
	e.trial.See()
	first := e.poison(grad)
	cost, err := e.problem.Evaluate(grad, x)
	if err == nil && first {
		err = e.written(grad, cost)
	}
	return e.trial.Tell(cost), err
}

// unwritten is a NaN with a bit pattern that no computation gives.
var unwritten = math.Float64frombits(0x7ff8_dead_beef_0002)

// poison fills the first gradient of a run with NaN, to detect entries that are never written.
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

// written returns an error for a problem that leaves entries of its gradient unwritten.
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

// judgeCost returns a finite cost unchanged and any other as +Inf, with an error after too many such costs in a row.
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

// Gradient returns the cost at x and writes the requested gradients. If x is the point evaluated last and the problem
// is a resumer, this costs one pass instead of two and no evaluation.
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

// admit refuses work beyond the budget; more is the number of evaluations about to be made.
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

// failure distinguishes a problem that stopped because the context is done from one that failed.
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

// outOfTime reports whether a problem stopped at the time limit. It did if the error is that of a deadline but the
// context of the run, which may have its own deadline, is not done.
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

// Stationarity returns the largest stationarity of a block at x.
func (e *Evaluator) Stationarity(x Point) (float64, error) {
	if err := e.admit(0); err != nil {
		return math.Inf(1), err
	}
	s, err := e.stationarity(x)
	if err != nil {
		return math.Inf(1), e.failure(fmt.Errorf("stationarity: %w", err))
	}
	return slices.Max(s), nil
}

// stationarity computes one number per block at x. It does not count towards the budget.
func (e *Evaluator) stationarity(x Point) ([]float64, error) {
	s := make([]float64, len(e.blocks))
	if c, ok := As[Certifier](e.problem); ok {
		e.lastValid = false
		e.counts.Passes += 2
		return s, c.Stationarity(s, x)
	}
	grad := NewPoint(e.blocks)
	if err := e.gradientAt(grad, x); err != nil {
		return s, err
	}
	for k, b := range e.blocks {
		s[k] = b.Norm(x[k], grad[k])
	}
	return s, nil
}
