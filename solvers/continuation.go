package solvers

import (
	"cmp"
	"encoding/gob"
	"errors"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

// Continuation minimises a cost with kinks through a sequence of smoothed costs; with Finish another method polishes the end, see
// [ContinuationState.Successor].
// In step k of the continuation the solver Inner minimises the cost smoothed over
//
//	eps_k = eps_0 * Factor^k,  eps_0 the smoothing scale of the problem,
//
// warm-started at the end of the previous step, until eps_k <= Last * eps_0. The scale is rounded down to a power
// of two, so that runs on similar problems have their smoothed costs in common. A step ends when the relative
// decrease of the smoothed cost is at most a tolerance in each of two iterations, or after 80 iterations, 300 in the
// last step; the tolerance falls geometrically from FirstTolerance to LastTolerance. Where [PrimalDual] polishes at kinks, it takes over after
// four steps, unless Inner is [Newton], at the smoothing length of the fourth: it follows the minima of smoothed
// costs better from a start near them than from a start near a kink.
//
// The iterate of the state is the best point by the cost itself, which is
// computed at the end of every step and every ten iterations. Where the
// problem is not framework.Smoothable, or its smoothing scale is 0, the inner
// solver runs on the cost itself, until a residual vanishes after all, and again where
// none vanishes at the end.
//
// Where a polish does not end at a stationary point and the cost is not differentiable, a second continuation
// follows, once.
//
// Rows are relocated ([latent.Reassigner]) before the polish.
//
// Runs can be stored if runs of the inner solver can.
//
// The zero value is ready to use. Source: A. Beck and M. Teboulle, Smoothing and
// first order methods, SIAM J. Optim. 22 (2012).
type Continuation struct {
	// Inner minimises the smoothed costs; nil stands for [LBFGS].
	Inner framework.Solver
	// Factor multiplies the smoothing length from step to step, in (0, 1);
	// 0 stands for 0.3.
	Factor float64
	// Last is the last smoothing length relative to the first; 0 stands for
	// 1e-6.
	Last float64
	// FirstTolerance and LastTolerance are the relative decreases at which the
	// first and the last step end; 0 stands for 1e-4 and 1e-9.
	FirstTolerance, LastTolerance float64
	// Finish lets [PrimalDual] polish at the kinks, where [Newton] is the inner solver or the Newton systems are
	// small. Where the polish does not end at a stationary point, and the cost is differentiable, the inner solver
	// continues on the cost itself.
	Finish bool
}

// againTolerance and againLast bound FirstTolerance and Last of the second continuation.
const againTolerance, againLast = 1e-7, 1e-2

// touchEvery is the number of iterations on the unsmoothed cost after which the solver looks for kinks. It also does
// so whenever the relative decrease is at most nearRounding, as the run is then about to end.
const touchEvery = 20

// judgeEvery is the number of iterations between two evaluations of the unsmoothed cost.
const judgeEvery = 10

// Name returns the name of the inner solver.
func (a Continuation) Name() string { return a.withDefaults().Inner.Name() }

// ContinuationState is the state of a run of [Continuation].
type ContinuationState struct {
	// Inner is the state of the inner solver, which minimises the cost smoothed
	// over Eps; Eps is 0 where there is nothing to smooth. Inner is nil before
	// the first of several steps.
	Inner framework.State
	Eps   float64
	// X is the best point seen and Cost its unsmoothed cost.
	X    framework.Point
	Cost float64
	// Stage counts the finished steps, Iterations the iterations of this step, Slow the latest consecutive
	// iterations with too small a decrease.
	Stage, Iterations, Slow int
	// Done says that the last step is over.
	Done bool
	// Finish is the state of the polish, once that runs; Finished says that it
	// has ended or is not needed.
	Finish   *PrimalDualState
	Finished bool
	// Stationary says that the point before or after the polish is, to 1e-8.
	Stationary bool
	// First is the first Eps; Again says that this is the second continuation.
	First float64
	Again bool
	// Reassigned counts the relocations of rows before the polish.
	Reassigned int
	// Returns counts the returns from a kink to the unsmoothed cost.
	Returns int
	// Plain says that the inner solver ends the run on the cost itself.
	Plain bool
	// Multipliers are the multipliers at the end of the last polish that is over.
	Multipliers []float64
}

// Equivariant reports whether the inner solver is equivariant.
func (a Continuation) Equivariant() bool {
	e, ok := a.withDefaults().Inner.(latent.Equivariant)
	return ok && e.Equivariant()
}

// Lacks implements [framework.Solver] as the inner solver does.
func (a Continuation) Lacks(p framework.Problem) string { return lacks(a.withDefaults().Inner, p) }

// NewState returns an empty state for a stored run.
func (a Continuation) NewState() framework.State {
	a.withDefaults().register()
	return &ContinuationState{}
}

// register registers the types of the inner state, which is behind an interface, with package encoding/gob.
func (a Continuation) register() {
	if r, ok := a.Inner.(interface{ NewState() framework.State }); ok {
		gob.Register(r.NewState())
	}
}

// Iterate returns the best point so far and its cost.
func (s *ContinuationState) Iterate() (framework.Point, float64) {
	if s.Eps == 0 {
		return s.Inner.Iterate()
	}
	if s.Finish != nil {
		return s.Finish.Iterate()
	}
	return s.X, s.Cost
}

// Resume restores the last smoothing length and the multipliers, with which the problem measures stationarity,
// and resumes the inner state on the smoothed cost, and the polish.
func (s *ContinuationState) Resume(e *framework.Evaluator) error {
	if s.Inner == nil && s.Finish == nil {
		return nil
	}
	if s.Eps > 0 {
		e.Smooth(s.Eps)
		defer e.Smooth(0)
	}
	if s.Plain {
		e.Smooth(0)
	}
	latent.SetMultipliers(e, s.Multipliers)
	if v, ok := s.Inner.(resumable); ok {
		if err := v.Resume(e); err != nil {
			return err
		}
	}
	if s.Finish != nil {
		if err := s.Finish.Resume(e); err != nil {
			return err
		}
	}
	return nil
}

// Pending reports whether the iterate is not yet final, as it is until the last step and the polish are over: a
// step without progress is then no stall.
func (s *ContinuationState) Pending() bool { return s.Eps != 0 && !(s.Done && s.Finished) }

// Successor implements [framework.State].
func (s *ContinuationState) Successor() string {
	if s.Finish != nil {
		return PrimalDual{}.Name()
	}
	return ""
}

// Gradient returns the gradient of the inner solver where that minimises the unsmoothed cost and provides one,
// else nil.
func (s *ContinuationState) Gradient() framework.Point {
	if s.Eps != 0 || s.Inner == nil {
		return nil
	}
	if g, ok := s.Inner.(interface{ Gradient() framework.Point }); ok {
		return g.Gradient()
	}
	return nil
}

func (a Continuation) withDefaults() Continuation {
	if a.Inner == nil {
		a.Inner = LBFGS{}
	}
	a.Factor, a.Last = cmp.Or(a.Factor, 0.3), cmp.Or(a.Last, 1e-6)
	a.FirstTolerance, a.LastTolerance = cmp.Or(a.FirstTolerance, 1e-4), cmp.Or(a.LastTolerance, 1e-9)
	return a
}

// lastStage is the number of the last step.
func (a Continuation) lastStage() int {
	return int(math.Ceil(math.Log(a.Last)/math.Log(a.Factor) - 1e-9))
}

// tolerance is the relative decrease at which step k ends.
func (a Continuation) tolerance(k int) float64 {
	last := a.lastStage()
	if last == 0 {
		return a.LastTolerance
	}
	return a.FirstTolerance * math.Pow(a.LastTolerance/a.FirstTolerance, float64(k)/float64(last))
}

// Init chooses the first smoothing length.
func (a Continuation) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	a = a.withDefaults()
	if err := Supports(a.Inner, e.Problem()); err != nil {
		return nil, err
	}
	a.register()
	s := &ContinuationState{Finished: !a.Finish}
	if err := s.measure(e, x); err != nil {
		return nil, err
	}
	if s.Eps == 0 {
		var err error
		s.Inner, err = a.Inner.Init(e, x)
		return s, err
	}
	s.X = x
	return s, nil
}

// restarter is a solver that starts a run from x, which it copies, reusing the memory of a state that its Init
// made for the same blocks.
type restarter interface {
	Restart(e *framework.Evaluator, s framework.State, x framework.Point) error
}

// Restart starts a run from x, which it copies, reusing the memory of a state that Init made for the same
// blocks, where the inner solver supports that.
func (a Continuation) Restart(e *framework.Evaluator, state framework.State, x framework.Point) error {
	a = a.withDefaults()
	s := state.(*ContinuationState)
	s.Stage, s.Iterations, s.Slow, s.Done, s.Reassigned, s.Returns = 0, 0, 0, false, 0, 0
	s.Finish, s.Finished, s.Stationary, s.Again, s.Plain, s.Multipliers = nil, !a.Finish, false, false, false, nil
	if err := s.measure(e, x); err != nil {
		return err
	}
	if s.Eps == 0 {
		return a.restartInner(e, s, x)
	}
	if s.X == nil {
		s.X = x.Clone()
	} else {
		s.X.CopyFrom(x)
	}
	defer e.Smooth(0)
	return a.begin(e, s, s.Eps, x)
}

// measure sets the first smoothing length and, where there is one, the cost.
func (s *ContinuationState) measure(e *framework.Evaluator, x framework.Point) error {
	eps, err := e.SmoothingScale(x)
	if err != nil {
		return err
	}
	if s.Eps = 0; eps > 0 {
		_, exponent := math.Frexp(eps)
		s.Eps = math.Ldexp(0.5, exponent)
		s.First = s.Eps
		s.Cost, err = e.Evaluate(nil, x)
	}
	return err
}

// Step does one iteration of the inner solver or of the polish, and begins the next step of the continuation
// where this one is over.
func (a Continuation) Step(e *framework.Evaluator, state framework.State) error {
	a = a.withDefaults()
	s := state.(*ContinuationState)
	switch {
	case s.Again:
		a.FirstTolerance, a.Last = min(a.FirstTolerance, againTolerance), max(a.Last, againLast)
	case a.shortens(e, s):
		a = a.shortened()
	}
	if s.Eps == 0 {
		_, before := s.Inner.Iterate()
		return a.unlessTouching(e, s, before, a.Inner.Step(e, s.Inner))
	}
	if s.Done {
		return a.finish(e, s)
	}
	defer e.Smooth(0)
	e.Smooth(s.Eps)
	if s.Inner == nil {
		latent.SetMultipliers(e, nil) // from the run before a relocation
		if err := a.begin(e, s, s.Eps, s.X); err != nil {
			return err
		}
	}
	_, before := s.Inner.Iterate()
	err := a.Inner.Step(e, s.Inner)
	stuck := errors.Is(err, framework.ErrNoProgress)
	if err != nil && !stuck {
		return err
	}
	s.Iterations++
	if stuck || a.ended(s, before) {
		return a.finishStage(e, s)
	}
	if s.Iterations%judgeEvery == 0 {
		return s.judge(e)
	}
	return nil
}

// unlessTouching follows an iteration on the cost itself that began at cost before and returned err. It returns
// nil in place of err where the solver approaches a kink: the polish continues from there.
func (a Continuation) unlessTouching(e *framework.Evaluator, s *ContinuationState, before float64, err error) error {
	stuck := errors.Is(err, framework.ErrNoProgress)
	if err != nil && !stuck {
		return err
	}
	_, cost := s.Inner.Iterate()
	slow := before-cost <= nearRounding*math.Abs(before)
	if s.Iterations++; !stuck && !slow && s.Iterations%touchEvery != 0 {
		return nil
	}
	if touches, failure := a.touches(e, s); touches || failure != nil {
		return failure
	}
	return err
}

// touches reports whether the inner solver is at a kink where [PrimalDual] can polish. If so, it prepares the polish.
func (a Continuation) touches(e *framework.Evaluator, s *ContinuationState) (bool, error) {
	shape, fits := latent.ShapeOf(e)
	if !fits || !a.Finishes(shape) {
		return false, nil
	}
	x, cost := s.Inner.Iterate()
	n, scale, err := latent.DualScale(e, x)
	if err != nil || n == 0 {
		return false, err
	}
	s.X, s.Cost = x.Clone(), cost
	s.Eps, s.First, s.Iterations, s.Slow, s.Done = scale, scale, 0, 0, true
	return true, nil
}

// ended reports whether the step is over after an iteration that began at the smoothed cost before.
func (a Continuation) ended(s *ContinuationState, before float64) bool {
	_, cost := s.Inner.Iterate()
	s.Slow++
	if before-cost > a.tolerance(s.Stage)*math.Abs(before) {
		s.Slow = 0
	}
	most := 80
	if s.Stage == a.lastStage() {
		most = 300
	}
	return s.Slow >= 2 || s.Iterations >= most
}

// finishStage evaluates the cost itself and begins the next step, if any.
func (a Continuation) finishStage(e *framework.Evaluator, s *ContinuationState) error {
	if err := s.judge(e); err != nil {
		return err
	}
	if s.Stage >= a.lastStage() {
		s.Done = true
		return nil
	}
	x, _ := s.Inner.Iterate()
	if err := a.begin(e, s, s.Eps*a.Factor, x); err != nil {
		return err
	}
	s.Stage++
	s.Iterations, s.Slow = 0, 0
	return nil
}

// begin starts the inner solver at x on the cost smoothed over eps.
func (a Continuation) begin(e *framework.Evaluator, s *ContinuationState, eps float64, x framework.Point) error {
	e.Smooth(eps)
	err := a.restartInner(e, s, x)
	if err == nil {
		s.Eps = eps
	}
	return err
}

// restartInner starts the inner solver at x, reusing the memory of its last run if it can.
func (a Continuation) restartInner(e *framework.Evaluator, s *ContinuationState, x framework.Point) error {
	if r, ok := a.Inner.(restarter); ok && s.Inner != nil {
		return r.Restart(e, s.Inner, x)
	}
	inner, err := a.Inner.Init(e, x.Clone())
	if err == nil {
		s.Inner = inner
	}
	return err
}

// judge evaluates the cost itself at the inner iterate and keeps the best point.
func (s *ContinuationState) judge(e *framework.Evaluator) error {
	e.Smooth(0)
	x, _ := s.Inner.Iterate()
	cost, err := e.Evaluate(nil, x)
	if err == nil && cost <= s.Cost {
		s.X.CopyFrom(x)
		s.Cost = cost
	}
	return err
}
