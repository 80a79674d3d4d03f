package solvers

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

// PrimalDual polishes an approximate minimum of a sum of support functions, such as norms of residuals
// ([latent.PrimalDual]). At vanishing residuals the cost has kinks. There Newton's method for the smoothed cost only
// converges within the smoothing length eps, and the gradient of the smoothed cost is no subgradient. Newton's method
// for the primal-dual system follows its solutions as eps falls from 1e-2 to 1e-9 of a typical residual, mostly in
// one or two iterations for each eps. An iteration solves the system of [Newton] with Levenberg damping lambda, and
// accepts the step, or a quarter of it, if the smoothed cost does not increase. Steps of rows that increase their
// loss are shortened.
//
// Eps is divided by five when an undamped step predicts a relative reduction of the smoothed cost below .01 eps, and
// after thirty iterations. Far from the solution for one eps, Newton's method for a smaller eps is slow. As eps
// falls, a minimum of the smoothed cost may vanish with the next one far away. Every step then only reaches the next
// of hundreds of kinks. Therefore, after twelve iterations at one eps, eps becomes 25 times as large and falls again;
// for small systems only in the run after a second continuation. If the end is not stationary, two more rounds begin,
// at an eps of .1 and .5 of a typical residual.
//
// The iterate is the best point by the unsmoothed cost, including the start. The measure of stationarity uses the
// dual variables.
//
// The zero value is ready to use. Sources: see [latent.PrimalDual].
type PrimalDual struct{}

const (
	// lastRounding is the last eps, relative to the scale, and roundingFactor its ratio from step to step.
	lastRounding, roundingFactor = 1e-9, 0.2
	// stageGain is the predicted relative reduction, over eps / scale, at which a step ends. It ends after
	// stageIterations in any case.
	stageGain, stageIterations = 1e-2, 30
	// lastGain replaces stageGain in the last step of large systems: the residual falls as its root, and one or
	// two more iterations there save rounds.
	lastGain = 1e-6
	// roundIterations bounds the iterations of a round.
	roundIterations = 250
	// A step with more than slowStage iterations continues with an eps raiseFactor times as large. This happens at
	// most maxRaises times per round, and only if eps is below mostRaised of the scale.
	slowStage, raiseFactor, maxRaises, mostRaised = 12, 25, 6, 1e-3
	// dearWork is the number of products of an iteration above which eps is raised in every run, not only in
	// the last.
	dearWork = 1 << 20
	// firstLambda is the damping of the first step; minLambda and minDamping bound it below after an accepted
	// and a rejected step.
	firstLambda, minLambda = 1e-6, 1e-14
	// primalDualTries is the number of dampings tried with one Newton system.
	primalDualTries = 8
	// primalDualFlatness is Flatness of schur. It and the least damping, minLambda, are small, as the second
	// derivatives of a row near its kink are 1/eps times those of others.
	primalDualFlatness = 1e-12
	// stationaryAt is the stationarity at which the polish is over. It does not depend on the tolerance of the
	// run, which must not change the path of the iterates.
	stationaryAt = 1e-8
	// fallGain is the relative decrease of the cost in a round beyond which a point that is not stationary is no
	// minimum.
	fallGain = 1e-7
)

// firstRoundings are the first eps of the rounds, relative to the scale.
var firstRoundings = [...]float64{1e-2, 0.1, 0.5}

// Name returns "primal-dual".
func (PrimalDual) Name() string { return "primal-dual" }

// PrimalDualState is the state of a run of [PrimalDual].
type PrimalDualState struct {
	// X is the best point by the unsmoothed cost, Cost that cost.
	X    framework.Point
	Cost float64
	// At is the current point, Dual the dual variables there.
	At   framework.Point
	Dual []float64
	// Multipliers are the dual variables for which X is stationary to
	// Residual.
	Multipliers []float64
	Residual    float64
	// Eps is the smoothing length, Scale that of a typical residual.
	Eps, Scale float64
	Lambda     float64
	// Round counts the finished rounds, Iterations those of this round, Stayed
	// those at this Eps and Failed the latest consecutive ones without a step.
	Round, Iterations, Stayed, Failed int
	// Raised counts the times that Eps was raised in this round.
	Raised int
	// Last reports that no second continuation follows this run.
	Last bool
	// Done says that the run has ended, Stationary that X is, to 1e-8, and Falls that
	// it is not and that the last round still lowered the cost.
	Done, Stationary, Falls bool
	// Entered is the cost when the round began.
	Entered float64

	arrowhead *latent.Arrowhead
	schur     *schur
	trial     framework.Point
	shortened bool // the inner step to trial is not that of schur
}

// Iterate returns the best point so far and its cost.
func (s *PrimalDualState) Iterate() (framework.Point, float64) { return s.X, s.Cost }

// Pending reports whether the iterate is not yet final.
func (s *PrimalDualState) Pending() bool { return !s.Done }

// NewState returns an empty state for a stored run.
func (PrimalDual) NewState() framework.State { return &PrimalDualState{} }

// Init begins at x. If the problem has no dual variables there, the run ends.
func (a PrimalDual) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	cost, err := e.Evaluate(nil, x)
	if err != nil {
		return nil, err
	}
	s := &PrimalDualState{X: x, Cost: cost, Residual: math.Inf(1)}
	return s, s.begin(e, x)
}

// begin starts the first round at x, which it copies, from Eps where that is set.
func (s *PrimalDualState) begin(e *framework.Evaluator, x framework.Point) error {
	shape, ok := latent.ShapeOf(e)
	if s.Done = !ok; s.Done {
		return nil
	}
	n, scale, err := latent.DualScale(e, x)
	if err != nil {
		return err
	}
	if s.Done = n == 0; s.Done {
		return nil
	}
	s.Scale, s.Dual = scale, make([]float64, n)
	s.allocate(e, shape)
	if s.At == nil {
		s.At = framework.NewPoint(e.Blocks())
	}
	s.At.CopyFrom(x)
	if s.Eps > 0 {
		return s.beginRound(e, s.Eps/scale)
	}
	return s.beginRound(e, firstRoundings[0])
}

func (s *PrimalDualState) allocate(e *framework.Evaluator, shape latent.ArrowheadShape) {
	if s.schur != nil { // memory of a run that is over
		return
	}
	s.arrowhead, s.schur = latent.NewArrowhead(shape), newSchur(shape)
	s.schur.root.Flatness, s.schur.least = primalDualFlatness, minLambda
	s.trial = framework.NewPoint(e.Blocks())
}

// Resume restores the multipliers of a stored run and its last smoothing length.
func (s *PrimalDualState) Resume(e *framework.Evaluator) error {
	latent.SetMultipliers(e, s.Multipliers)
	if s.Eps > 0 {
		e.Smooth(s.Eps)
		e.Smooth(0)
	}
	if shape, ok := latent.ShapeOf(e); ok && !s.Done {
		s.allocate(e, shape)
	}
	return nil
}

// beginRound starts a round at eps = part * Scale from the current point.
func (s *PrimalDualState) beginRound(e *framework.Evaluator, part float64) error {
	s.Eps, s.Lambda = part*s.Scale, firstLambda
	s.Iterations, s.Stayed, s.Failed, s.Raised = 0, 0, 0, 0
	s.Entered = s.Cost
	e.Smooth(s.Eps)
	defer e.Smooth(0)
	return latent.StartDual(e, s.Dual, s.At)
}

// Step takes one step of all blocks and dual variables.
func (a PrimalDual) Step(e *framework.Evaluator, state framework.State) error {
	s := state.(*PrimalDualState)
	if s.Done {
		return framework.ErrNoProgress
	}
	defer e.Smooth(0)
	e.Smooth(s.Eps)
	before, err := latent.AssemblePrimalDual(e, s.arrowhead, s.At, s.Dual)
	if err != nil {
		return err
	}
	s.schur.eliminate(s.arrowhead)
	promised := s.schur.promise(minLambda)
	fraction, err := s.advance(e, before)
	if err != nil {
		return err
	}
	if s.Failed++; fraction > 0 {
		s.Failed = 0
	}
	s.Iterations++
	s.Stayed++
	solved := promised < s.stageGain()*s.Eps/s.Scale*math.Abs(before)
	if !solved && s.crawls() {
		return s.raise(e)
	}
	settled := solved || s.Stayed >= stageIterations
	if fraction == 1 && settled || s.Failed >= 2 || s.Iterations >= roundIterations {
		return s.endStage(e)
	}
	return nil
}

// stageGain is the predicted relative reduction, over Eps / Scale, at which this step ends.
func (s *PrimalDualState) stageGain() float64 {
	if s.schur.Outer > smallOuter && s.Eps <= lastRounding*s.Scale {
		return lastGain
	}
	return stageGain
}

// crawls reports whether to raise eps, as this step converges slowly. That may lead to another minimum, so that
// small systems, with many of them, do so in the last run only.
func (s *PrimalDualState) crawls() bool {
	dear := s.schur.Outer*s.schur.Outer > dearWork/s.schur.Inner()
	return (s.Last || dear) && s.Stayed >= slowStage && s.Raised < maxRaises && s.Eps < mostRaised*s.Scale
}

// raise continues with a larger eps from the current point.
func (s *PrimalDualState) raise(e *framework.Evaluator) error {
	s.Raised++
	s.Eps *= raiseFactor
	s.Lambda = min(s.Lambda, firstLambda)
	s.Stayed, s.Failed = 0, 0
	e.Smooth(s.Eps)
	return latent.StartDual(e, s.Dual, s.At)
}

// advance takes a step that does not increase the smoothed cost, with increasing damping. It returns the
// fraction of it that was taken, 0 if all fail.
func (s *PrimalDualState) advance(e *framework.Evaluator, before float64) (fraction float64, err error) {
	for try := range primalDualTries {
		s.schur.solve(s.Lambda)
		now, err := s.try(e, 1, before)
		if err != nil {
			return 0, err
		}
		if now <= before*(1+costNoise) {
			return 1, s.take(e, 1)
		}
		if try == 0 {
			if now, err = s.try(e, 0.25, before); err != nil {
				return 0, err
			}
			if now < before {
				return 0.25, s.take(e, 0.25)
			}
		}
		s.Lambda = max(s.Lambda, minDamping) * 10
	}
	return 0, nil
}

// take accepts the trial, a fraction of the step in schur, and adapts the damping.
func (s *PrimalDualState) take(e *framework.Evaluator, fraction float64) error {
	if s.shortened { // else the difference would be less accurate than the step is
		inner := s.arrowhead.Block
		floats.SubTo(s.schur.inner, s.trial[inner], s.At[inner])
		floats.Scale(1/fraction, s.schur.inner)
	}
	if err := latent.MoveDual(e, s.Dual, s.At, s.schur.outer, s.schur.inner, fraction); err != nil {
		return err
	}
	s.At, s.trial = s.trial, s.At
	if fraction == 1 {
		s.Lambda = max(s.Lambda/10, minLambda)
	} else {
		s.Lambda = max(s.Lambda, minDamping) * 10
	}
	return nil
}

// try evaluates a fraction of the step in schur, with the inner steps shortened where the smoothed cost exceeds
// before.
func (s *PrimalDualState) try(e *framework.Evaluator, fraction, before float64) (float64, error) {
	inner, outer := s.arrowhead.Block, s.schur.outer
	if fraction != 1 {
		outer = s.schur.scaled // which is computed anew for the next step
		copy(outer, s.schur.outer)
		floats.Scale(fraction, outer)
	}
	if s.shortened = false; latent.RetractOuter(e, s.trial, s.At, outer) != nil {
		return math.Inf(1), nil
	}
	floats.AddScaledTo(s.trial[inner], s.At[inner], fraction, s.schur.inner)
	now, err := e.Evaluate(nil, s.trial)
	if err != nil || now <= before*(1+costNoise) {
		return now, err
	}
	s.shortened = true
	return latent.ShortenInner(e, s.trial, s.At[inner])
}

// endStage evaluates the unsmoothed cost and reduces eps, or ends the round.
func (s *PrimalDualState) endStage(e *framework.Evaluator) error {
	e.Smooth(0)
	cost, err := e.Evaluate(nil, s.At)
	if err != nil {
		return err
	}
	if cost <= s.Cost {
		s.X.CopyFrom(s.At)
		s.Cost = cost
	}
	last := lastRounding * s.Scale
	if s.Eps <= last || s.Iterations >= roundIterations {
		return s.endRound(e)
	}
	s.Eps = max(s.Eps*roundingFactor, last)
	s.Stayed, s.Failed = 0, 0
	s.Lambda = min(s.Lambda, firstLambda)
	return nil
}

// endRound measures stationarity and begins another round where it fails.
func (s *PrimalDualState) endRound(e *framework.Evaluator) error {
	if err := s.measure(e); err != nil {
		return err
	}
	s.Round++
	s.Stationary = s.Residual <= stationaryAt
	s.Falls = !s.Stationary && s.Entered-s.Cost > fallGain*math.Abs(s.Cost)
	if s.Done = s.Stationary || s.Round == len(firstRoundings); s.Done {
		return nil
	}
	return s.beginRound(e, firstRoundings[s.Round])
}

// measure measures the stationarity of the best point with the dual variables and with the multipliers so far,
// and keeps the better of them.
func (s *PrimalDualState) measure(e *framework.Evaluator) error {
	residual, err := s.with(e, s.Dual)
	if err != nil {
		return err
	}
	if len(s.Multipliers) > 0 && residual > stationaryAt {
		old, err := s.with(e, s.Multipliers)
		if err != nil || old <= residual {
			s.Residual = old
			return err
		}
		latent.SetMultipliers(e, s.Dual)
	}
	s.Multipliers = append(s.Multipliers[:0], s.Dual...)
	s.Residual = residual
	return nil
}

// with measures the best point with these multipliers.
func (s *PrimalDualState) with(e *framework.Evaluator, dual []float64) (float64, error) {
	latent.SetMultipliers(e, dual)
	return e.Stationarity(s.X)
}
