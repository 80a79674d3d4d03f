package framework

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

const (
	// maxDrift is the distance from the manifold beyond which an iterate is restored.
	maxDrift = 1e-12
	// fastDecrease is the relative decrease of the cost in an iteration above
	// which the stationarity is not computed.
	fastDecrease = 1e-6
)

// Solve minimises the cost of p from x0, which it does not change. If the problem can be evaluated at x0, the result
// is not nil: it holds the best finite point seen, whatever happens later. The error is not nil exactly if the status
// is Failed. An exhausted budget and a cancellation are a status, not an error.
//
// A panic of the problem, the solver, a manifold or an observer is returned as
// an error that wraps [ErrPanic].
func Solve(ctx context.Context, p Problem, x0 Point, s Solver, o Options) (*Result, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := validate(ctx, p, s); err != nil {
		return nil, err
	}
	r := &run{unit: 1, by: 1, solver: s, options: o, best: math.Inf(1), lowest: math.Inf(1), bestGradient: math.Inf(1), leastGradient: math.Inf(1)}
	err = guard(func() error { return r.start(ctx, p, x0) })
	if err == nil {
		r.status, err = r.loop()
	}
	if refusal := (*UnsupportedError)(nil); errors.As(err, &refusal) {
		return nil, fmt.Errorf("framework: %w", refusal)
	}
	if err != nil {
		r.status = Failed
		err = fmt.Errorf("framework: %s: iteration %d: %w", s.Name(), r.iteration, err)
	}
	if r.bestPoint == nil {
		return nil, err
	}
	return r.finish(err)
}

// run is one call of Solve.
type run struct {
	solver  Solver
	options Options

	evaluator *Evaluator
	state     State
	iteration int
	history   []Record

	best      float64
	bestPoint Point

	lowest        float64 // the lowest cost seen; rounding may distinguish it from best
	bestGradient  float64 // the gradient norm at bestPoint, +Inf if it is not known
	leastGradient float64 // the least gradient norm seen, replaced only after a clear decrease

	by      float64 // factor of the costs, see extreme
	unit    float64 // of the tolerance: the gradient norm at the start, 1 for a Certifier
	span    float64 // max(1, |x|) at the start
	byStop  bool    // the Stop of the options has ended the run
	last    Point   // the previous iterate, for a Stop
	mistake string  // description of an error in the gradient
	floor   float64 // the gradient norm due to rounding of the last point, if it is at least the actual one

	status       Status
	stationarity []float64 // at the last check
	slow         int       // iterations in a row without enough decrease
	examined     int       // thresholds at which the run was examined, see conclude
	relocateDue  float64   // passes after which to try a relocation again, 0 before one that found a lower cost and after one that did not
	refutation   string    // why the last judged point is not a minimum, see Refuter

	before     time.Duration // time spent by the earlier runs that this one continues
	stored     bool          // iteration and time of the last checkpoint
	storedAt   int
	storedTime time.Time
	inStep     bool     // the state may be between two iterations
	successors []string // solvers that have taken over
	ended      ending   // of the stored run
}

// elapsed is the time spent so far.
func (r *run) elapsed() time.Duration { return r.before + r.options.Elapsed() }

func (r *run) start(ctx context.Context, p Problem, x0 Point) error {
	r.evaluator = newEvaluator(ctx, p, r.options)
	if p, ok := As[explorer](p); ok {
		p.Begin(r.evaluator)
	}
	x, err := r.checkStart(x0)
	if err != nil {
		return err
	}
	if resumed, err := r.resume(); err != nil || resumed {
		return err
	}
	state, err := r.solver.Init(r.evaluator, x)
	if err != nil && !errors.Is(err, errStop) {
		return fmt.Errorf("start: %w", err)
	}
	if err != nil { // the budget did not even allow the start
		r.bestPoint = x
		return nil
	}
	r.state = state
	if _, cost := state.Iterate(); math.IsNaN(cost) || math.IsInf(cost, 0) {
		return fmt.Errorf("%w at the start", ErrNonFinite)
	}
	r.keepBest()
	if err := r.measure(); err != nil && !errors.Is(err, errStop) {
		return fmt.Errorf("start: %w", err)
	}
	if by := r.extreme(); by != 1 {
		r.by, r.best, r.bestPoint, r.lowest, r.bestGradient = by, math.Inf(1), nil, math.Inf(1), math.Inf(1)
		return r.start(ctx, scaled{p, by}, x0)
	}
	r.record()
	return nil
}

// checkStart returns a copy of x0 that is finite and on the manifold.
func (r *run) checkStart(x0 Point) (Point, error) {
	if err := r.shaped(x0); err != nil {
		return nil, fmt.Errorf("%w: start %w", ErrInvalid, err)
	}
	x := x0.Clone()
	for k, b := range r.evaluator.blocks {
		if !(Point{x[k]}).Finite() {
			return nil, fmt.Errorf("%w: start has NaN or Inf in block %s", ErrInvalid, b.Name)
		}
		if v := b.Violation(x[k]); !(v <= maxViolation) {
			return nil, fmt.Errorf("%w: start is off the manifold of block %s by %.3g", ErrInvalid, b.Name, v)
		}
	}
	return x, r.restore(x)
}

// restore moves an iterate that has drifted off its manifolds back onto them.
func (r *run) restore(x Point) error {
	for k, b := range r.evaluator.blocks {
		if b.Violation(x[k]) <= maxDrift {
			continue
		}
		if err := b.Restore(x[k]); err != nil {
			return fmt.Errorf("block %s: %w", b.Name, err)
		}
	}
	return nil
}

func (r *run) loop() (Status, error) {
	if r.state == nil {
		return r.evaluator.stopped, nil
	}
	if s := r.ended.Status; s != Failed && r.ended == r.ending(s, true) {
		return s, nil // it was stored at its end
	}
	if as, ends := r.stops(); ends {
		return as, nil
	}
	for {
		var status Status
		var done bool
		err := guard(func() (err error) {
			if status, done, err = r.next(); err != nil || r.inStep {
				return err
			}
			return r.store(status, done)
		})
		if err != nil || done {
			return status, err
		}
	}
}

// next does one iteration and reports whether the run is over.
func (r *run) next() (Status, bool, error) {
	if r.options.MaxIterations >= 0 && r.iteration >= r.options.MaxIterations {
		return MaxIterations, true, nil
	}
	if err := r.evaluator.admit(0); err != nil {
		return r.evaluator.stopped, true, nil
	}
	_, before := r.state.Iterate()
	r.inStep = true
	err := r.solver.Step(r.evaluator, r.state)
	switch {
	case errors.Is(err, errStop):
		r.keepBest()
		return r.evaluator.stopped, true, nil
	case errors.Is(err, ErrNoProgress):
		r.keepBest()
		return r.conclude(0, true)
	case err != nil:
		r.keepBest()
		return Failed, true, err
	}
	r.inStep = false
	r.iteration++
	r.record()
	return r.judge(before)
}

// judge applies the stopping tests after an iteration that started at the given cost.
func (r *run) judge(before float64) (Status, bool, error) {
	if s, ok := r.state.(pending); ok && s.Pending() {
		r.slow = 0
		return 0, false, nil
	}
	if r.unbounded() {
		return Unbounded, true, nil
	}
	switch moved, err := r.relocateAgain(); {
	case errors.Is(err, errStop):
		return r.evaluator.stopped, true, nil
	case moved || err != nil:
		return Failed, err != nil, err
	}
	_, cost := r.state.Iterate()
	decrease := before - cost
	small := decrease <= r.options.MinRelativeDecrease*math.Max(math.Abs(before), math.Abs(cost))
	gradient, graded := r.gradientNorm()
	falls := graded && r.falls(gradient) && atRounding(decrease, before)
	r.slow++
	if !small || falls {
		r.slow = 0
	}
	hidden := graded && atRounding(decrease, before)
	as, ends := r.stops()
	if ends && as != Stalled {
		return as, true, nil
	}
	tired := ends || r.slow >= r.patience(hidden)
	if x, _ := r.state.Iterate(); hidden && r.slow == r.options.Patience {
		r.floor, _ = r.stationaryToRounding(x)
	}
	due := r.due(decrease, before)
	if graded {
		due = r.dueAt(gradient)
	}
	if !tired && !due {
		return 0, false, nil
	}
	x, _ := r.state.Iterate()
	if err := r.restore(x); err != nil {
		return Failed, true, err
	}
	status, done, err := r.conclude(decrease, tired)
	if done && status == Stalled && !graded && !ends && r.fallsUnseen(decrease, before) {
		r.slow = 0
		return 0, false, nil
	}
	return status, done, err
}

// due reports whether it is time to compute the stationarity. Unless CheckEvery is set, it is not while the cost
// falls fast. The test for fast does not depend on the tolerance, so that the path does not either. It is time at
// once if the run comes to rest: Newton's method may leave a saddle again in a later iteration, for a long valley in
// which the cost hardly falls.
func (r *run) due(decrease, before float64) bool {
	if r.options.CheckEvery > 0 {
		return r.iteration%r.options.CheckEvery == 0
	}
	return r.comesToRest(decrease, before) || r.iteration%DefaultCheckEvery == 0 && decrease <= fastDecrease*r.fallen(before)
}

// comesToRest reports whether the last iteration is the first one after an iteration that gained more than
// restDecrease.
func (r *run) comesToRest(decrease, before float64) bool {
	n, rest := len(r.history), restDecrease*r.fallen(before)
	return n > 2 && decrease <= rest && (r.history[n-3].Cost-r.history[n-2].Cost)*r.by > rest
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// certify computes the stationarity of the iterate, from the gradient if the solver reports it, and compares it with
// the tolerance.
func (r *run) certify() (bool, error) {
	x, _ := r.state.Iterate()
	if s := r.gradientNorms(); s != nil {
		r.stationarity = s
		return r.withinTolerance(s), nil
	}
	s, err := r.evaluator.stationarity(x)
	switch {
	case err != nil && r.evaluator.outOfTime(err):
		return false, r.evaluator.stop(TimeLimit)
	case err != nil:
		return false, fmt.Errorf("stationarity: %w", err)
	}
	r.stationarity = s
	return r.withinTolerance(s), nil
}

// tolerance is the largest stationarity of a point that counts as converged.
func (r *run) tolerance() float64 {
	tolerance := r.options.Tolerance
	switch {
	case tolerance < 0:
		return -1
	case tolerance == 0 && r.certified():
		tolerance = DefaultTolerance
	case tolerance == 0:
		tolerance = DefaultGradientTolerance
	}
	return math.Max(tolerance*r.unit, r.floor)
}

func (r *run) withinTolerance(s []float64) bool {
	for _, v := range s {
		if !(v <= r.tolerance()) {
			return false
		}
	}
	return true
}

// record adds the iterate to the history and passes it to the observers.
func (r *run) record() {
	r.keepBest()
	_, cost := r.state.Iterate()
	gradient, known := r.gradientNorm()
	if !known {
		gradient = math.NaN()
	}
	now := Record{
		Iteration: r.iteration, Cost: cost / r.by, GradientNorm: gradient / r.by, Counts: r.evaluator.counts, Elapsed: r.elapsed(), Step: r.step(),
	}
	r.history = append(r.history, now)
	now.State = r.state
	for _, observe := range r.options.Observers {
		observe(now)
	}
}

// startCost is the cost at the start, in the unit of the evaluator.
func (r *run) startCost() float64 { return r.history[0].Cost * r.by }

// noteSuccessor records the solver that has taken over, if any.
func (r *run) noteSuccessor() {
	if s, ok := r.state.(successor); ok {
		if name := s.Successor(); name != "" && !slices.Contains(r.successors, name) {
			r.successors = append(r.successors, name)
		}
	}
}

// ran names the solver and those that have taken over.
func (r *run) ran() string {
	return strings.Join(append([]string{r.solver.Name()}, r.successors...), ", then ")
}

func (r *run) keepBest() {
	r.noteSuccessor()
	x, cost := r.state.Iterate()
	gradient, known := largest(r.blockNorms())
	if !r.better(cost, gradient, known) || !x.Finite() {
		return
	}
	r.best, r.bestGradient, r.lowest = cost, gradient, math.Min(r.lowest, cost)
	if r.bestPoint == nil {
		r.bestPoint = x.Clone()
		return
	}
	r.bestPoint.CopyFrom(x)
}

// finish makes the result. Cost and stationarity are computed again at the returned point, unless the user waits for
// a cancelled run to end. If no time is left for this, the known values are returned, and the run ends at the time
// limit.
func (r *run) finish(failure error) (*Result, error) {
	res := &Result{
		Point: r.bestPoint, Cost: r.best, Solver: r.ran(), Status: r.status, Iterations: r.iteration,
		History: slices.Clip(r.history),
	}
	if r.status != Cancelled && r.status != Failed {
		switch err := guard(func() error { return r.recompute(res) }); {
		case err == nil:
		case r.evaluator.outOfTime(err):
			res.Status, res.Stationarity = TimeLimit, nil
		default:
			res.Status = Failed
			failure = fmt.Errorf("framework: %s: at the returned point: %w", r.solver.Name(), err)
		}
	}
	res.Counts, res.Elapsed = r.evaluator.counts, r.elapsed()
	res.Cost, res.Tolerance = res.Cost/r.by, res.Tolerance/r.by
	for k := range res.Stationarity {
		res.Stationarity[k] /= r.by
	}
	res.Message = r.message(res, failure)
	return res, failure
}

func (r *run) recompute(res *Result) error {
	if err := r.restore(res.Point); err != nil {
		return err
	}
	cost, err := r.evaluator.call(nil, res.Point)
	if err != nil {
		return err
	}
	if math.IsNaN(cost) || math.IsInf(cost, 0) {
		return ErrNonFinite
	}
	res.Cost = cost
	if res.Stationarity, err = r.evaluator.stationarity(res.Point); err != nil {
		return err
	}
	return r.reconsider(res)
}

// reconsider updates the status for the returned point, in both directions.
func (r *run) reconsider(res *Result) error {
	within := r.withinTolerance(res.Stationarity)
	if !within && res.Status == Stalled {
		r.floor, within = r.stationaryToRounding(res.Point)
	}
	res.Tolerance = r.tolerance()
	if !within && res.Status == Stalled && r.mistake == "" {
		if err := r.compareAt(res.Point, res.Cost); err != nil {
			return err
		}
	}
	if within = within && r.mistake == ""; within {
		stands, err := r.stands(res.Point)
		if err != nil {
			return err
		}
		within = stands
	}
	switch {
	case within && res.Status != Converged:
		examined, err := r.examinedLast(res)
		if err != nil {
			return err
		}
		if examined {
			res.Status = Converged
		}
	case !within && res.Status == Converged && !r.stopHolds(res):
		res.Status = Stalled
	}
	return nil
}

func (r *run) message(res *Result, failure error) string {
	if r.mistake != "" && res.Status != Failed {
		return fmt.Sprintf("%s: the run ended as %v; frameworktest.CheckProblem tells which entries to look at", r.mistake, res.Status)
	}
	worst := "unknown"
	if len(res.Stationarity) > 0 {
		k := 0
		for j, v := range res.Stationarity {
			if v > res.Stationarity[k] {
				k = j
			}
		}
		worst = fmt.Sprintf("%.2g in block %s", res.Stationarity[k], r.evaluator.blocks[k].Name)
	}
	if r.byStop && res.Status != Failed && res.Status != Cancelled {
		return fmt.Sprintf("ended by a Stop of the options as %v at cost %.6g; first-order residual %s", res.Status, res.Cost, worst)
	}
	switch res.Status {
	case Converged:
		return fmt.Sprintf("first-order stationary: residual %s, within the tolerance %.2g", worst, res.Tolerance)
	case Stalled:
		if r.refutation != "" {
			return fmt.Sprintf("first-order stationary: residual %s, within the tolerance %.2g, but %s", worst, res.Tolerance, r.refutation)
		}
		return fmt.Sprintf("the cost no longer falls, but the first-order residual is %s, above the tolerance %.2g", worst, res.Tolerance)
	case MaxIterations:
		return fmt.Sprintf("stopped after %d iterations; first-order residual %s; allow more iterations to go on", r.iteration, worst)
	case MaxEvaluations:
		return fmt.Sprintf("stopped after %d evaluations; first-order residual %s", res.Counts.Evaluations, worst)
	case TimeLimit:
		return fmt.Sprintf("stopped at the time limit of %v; first-order residual %s", r.options.TimeLimit, worst)
	case Cancelled:
		return fmt.Sprintf("cancelled after %d iterations; the best point so far is kept", r.iteration)
	case Unbounded:
		return fmt.Sprintf("the cost has fallen to %.3g and goes on: nothing bounds it from below; bound it, or the variables", res.Cost)
	default:
		line, _, _ := strings.Cut(fmt.Sprint(failure), "\n") // without the stack of a panic
		return "failed; the best finite point so far is kept: " + line
	}
}

// guard turns a panic into an error.
func guard(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v\n%s", ErrPanic, p, debug.Stack())
		}
	}()
	return call()
}
