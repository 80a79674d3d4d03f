package solvers

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// PrimalDual finishes the minimisation of a sum of support functions, such as
// norms of residuals, near a minimum ([framework.PrimalDual]): where residuals
// vanish there, the cost has kinks, Newton's method for the rounded cost
// converges only within the length of the rounding, and the gradient of the
// rounded cost is no subgradient. Newton's method for the primal-dual system
// follows its solutions as the length eps goes from 1e-2 to 1e-9 of a typical
// residual, in about two iterations each. An iteration solves the system of
// [Newton] with damping lambda, in the manner of Levenberg, and accepts the step,
// or a quarter of it, where the rounded cost does not rise. Eps becomes a fifth
// when a full step lowers the rounded cost by less than a fraction .03 eps of
// it, and after six iterations. Where the end is not stationary, two more rounds
// begin at .1 and .5.
//
// The iterate is the best point by the cost itself, beginning with the start. The
// dual variables are handed to the measure of stationarity.
//
// The zero value is ready to use. Sources: see [framework.PrimalDual].
type PrimalDual struct{}

const (
	// lastRounding and roundingFactor are the last eps, relative to the scale,
	// and its ratio from stage to stage; shortFactor is that after failures.
	lastRounding, roundingFactor, shortFactor = 1e-9, 0.2, 0.5
	// stageGain is the relative decrease, over eps, at which a stage ends, and
	// stageIterations the number of iterations after which it ends anyway.
	stageGain, stageIterations = 3e-2, 6
	// roundIterations bounds the iterations of a round.
	roundIterations = 150
	// firstLambda is the damping of the first step; minLambda and nearLambda
	// bound it below after a success and after a failure.
	firstLambda, minLambda, nearLambda = 1e-6, 1e-14, 1e-9
	// primalDualTries is the number of dampings tried with one Newton system.
	primalDualTries = 5
	// dualFraction is the least part of its step that the dual variables take.
	dualFraction = 1e-3
	// primalDualFlatness and primalDualDamping are small, as the second
	// derivatives of a row near its kink are 1/eps times those of others.
	primalDualFlatness, primalDualDamping = 1e-12, 1e-13
	// stationaryAt is the stationarity at which the finish is over. It does not
	// depend on the tolerance of the run, which says when to stop and never where
	// the path goes.
	stationaryAt = 1e-8
)

// firstRoundings are the first eps of the rounds, relative to the scale.
var firstRoundings = [...]float64{1e-2, 0.1, 0.5}

// dualTrust are the multiples of the dual variables with which the second
// derivatives are tried. With 0 they are those of the parabolas that touch the
// rounded cost from above.
var dualTrust = [...]float64{1, 0.5, 0}

// Name returns "primal-dual".
func (PrimalDual) Name() string { return "primal-dual" }

// PrimalDualState is where a run of [PrimalDual] stands.
type PrimalDualState struct {
	// X is the best point by the cost itself, Cost its cost.
	X    framework.Point
	Cost float64
	// At is where the run stands, Dual the dual variables there.
	At   framework.Point
	Dual []float64
	// Multipliers are the dual variables that show X to be stationary, to
	// Residual.
	Multipliers []float64
	Residual    float64
	// Eps is the length of the rounding, Scale that of a typical residual.
	Eps, Scale float64
	Lambda     float64
	// Round counts the finished rounds, Iterations those of this round, Stayed
	// those of this stage and Failed the last ones of them without a step.
	Round, Iterations, Stayed, Failed int
	// Done says that the run has ended, Stationary that X is, to 1e-8.
	Done, Stationary bool

	arrowhead *framework.Arrowhead
	schur     *schur
	trial     framework.Point
	trusted   []float64 // a multiple of Dual
}

// Iterate returns the best point so far and its cost.
func (s *PrimalDualState) Iterate() (framework.Point, float64) { return s.X, s.Cost }

// Pending reports whether the iterate is behind the run.
func (s *PrimalDualState) Pending() bool { return !s.Done }

// NewState returns an empty state for a stored run.
func (PrimalDual) NewState() framework.State { return &PrimalDualState{} }

// Init begins at x. Where the problem has no dual variables there the run is done.
func (a PrimalDual) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	cost, err := e.Evaluate(nil, x)
	if err != nil {
		return nil, err
	}
	s := &PrimalDualState{X: x, Cost: cost, Residual: math.Inf(1)}
	return s, s.begin(e, x)
}

// begin starts the first round at x, which it copies.
func (s *PrimalDualState) begin(e *framework.Evaluator, x framework.Point) error {
	shape, ok := e.ArrowheadShape()
	if s.Done = !ok; s.Done {
		return nil
	}
	n, scale, err := e.DualScale(x)
	if err != nil {
		return err
	}
	if s.Done = n == 0; s.Done {
		return nil
	}
	s.Scale, s.Dual, s.At = scale, make([]float64, n), x.Clone()
	s.allocate(e, shape)
	return s.beginRound(e)
}

func (s *PrimalDualState) allocate(e *framework.Evaluator, shape framework.ArrowheadShape) {
	s.arrowhead, s.schur = framework.NewArrowhead(shape), newSchur(shape)
	s.schur.flatness, s.schur.least = primalDualFlatness, primalDualDamping
	s.trial = framework.NewPoint(e.Blocks())
	s.trusted = make([]float64, len(s.Dual))
}

// Resume hands the multipliers of a stored run over again, and the length over
// which the problem was rounded last.
func (s *PrimalDualState) Resume(e *framework.Evaluator) error {
	e.SetMultipliers(s.Multipliers)
	if s.Eps > 0 {
		e.Smooth(s.Eps)
		e.Smooth(0)
	}
	if shape, ok := e.ArrowheadShape(); ok && !s.Done {
		s.allocate(e, shape)
	}
	return nil
}

// beginRound rounds the cost generously again.
func (s *PrimalDualState) beginRound(e *framework.Evaluator) error {
	s.Eps, s.Lambda = firstRoundings[s.Round]*s.Scale, firstLambda
	s.Iterations, s.Stayed, s.Failed = 0, 0, 0
	e.Smooth(s.Eps)
	defer e.Smooth(0)
	return e.StartDual(s.Dual, s.At)
}

// Step takes one step of all blocks and dual variables.
func (a PrimalDual) Step(e *framework.Evaluator, state framework.State) error {
	s := state.(*PrimalDualState)
	if s.Done {
		return framework.ErrNoProgress
	}
	defer e.Smooth(0)
	e.Smooth(s.Eps)
	before, err := e.AssemblePrimalDual(s.arrowhead, s.At, s.Dual)
	if err != nil {
		return err
	}
	s.schur.eliminate(s.arrowhead)
	fraction, now, err := s.advance(e, before)
	if err != nil {
		return err
	}
	if err := e.MoveDual(s.Dual, s.At, s.schur.outer, s.schur.inner, max(fraction, dualFraction)); err != nil {
		return err
	}
	s.Failed++
	if fraction > 0 {
		s.At, s.trial = s.trial, s.At
		s.Failed = 0
	}
	s.Iterations++
	s.Stayed++
	settled := before-now < stageGain*s.Eps/s.Scale*math.Abs(before) || s.Stayed >= stageIterations
	if fraction == 1 && settled || s.Failed >= 2 || s.Iterations >= roundIterations {
		return s.endStage(e, fraction == 1)
	}
	return nil
}

// advance looks for a step that lowers the rounded cost and leaves the point that
// it leads to in trial. It returns the part of the step taken, 0 where none
// does, and the rounded cost there.
func (s *PrimalDualState) advance(e *framework.Evaluator, before float64) (fraction, now float64, err error) {
	for k, trust := range dualTrust {
		if k > 0 {
			floats.ScaleTo(s.trusted, trust, s.Dual)
			if _, err := e.AssemblePrimalDual(s.arrowhead, s.At, s.trusted); err != nil {
				return 0, 0, err
			}
			s.schur.eliminate(s.arrowhead)
			s.Lambda = min(s.Lambda, firstLambda)
		}
		if fraction, now, err = s.damp(e, before); fraction > 0 || err != nil {
			return fraction, now, err
		}
	}
	return 0, before, nil
}

// damp tries steps with more and more damping.
func (s *PrimalDualState) damp(e *framework.Evaluator, before float64) (fraction, now float64, err error) {
	for try := range primalDualTries {
		s.schur.solve(s.Lambda)
		if now, err = s.try(e, 1); err != nil {
			return 0, 0, err
		}
		if now <= before*(1+1e-14) {
			s.Lambda = max(s.Lambda/10, minLambda)
			return 1, now, nil
		}
		if try == 0 {
			if now, err = s.try(e, 0.25); err != nil {
				return 0, 0, err
			}
			if now < before {
				s.Lambda = max(s.Lambda, nearLambda) * 10
				return 0.25, now, nil
			}
		}
		s.Lambda = max(s.Lambda, nearLambda) * 10
	}
	return 0, before, nil
}

// try evaluates a part of the step that schur holds.
func (s *PrimalDualState) try(e *framework.Evaluator, fraction float64) (float64, error) {
	inner, outer := s.arrowhead.Block, s.schur.outer
	if fraction != 1 {
		outer = s.schur.scaled // which is computed anew for the next step
		copy(outer, s.schur.outer)
		floats.Scale(fraction, outer)
	}
	if e.RetractOuter(s.trial, s.At, outer) != nil {
		return math.Inf(1), nil
	}
	floats.AddScaledTo(s.trial[inner], s.At[inner], fraction, s.schur.inner)
	return e.Evaluate(nil, s.trial)
}

// endStage evaluates the cost itself and rounds less, or ends the round.
func (s *PrimalDualState) endStage(e *framework.Evaluator, full bool) error {
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
	factor := roundingFactor
	if !full {
		factor = shortFactor
	}
	s.Eps = max(s.Eps*factor, last)
	s.Stayed, s.Failed = 0, 0
	s.Lambda = min(s.Lambda, firstLambda)
	return nil
}

// endRound measures the end and begins another round where it is not stationary.
func (s *PrimalDualState) endRound(e *framework.Evaluator) error {
	if err := s.measure(e); err != nil {
		return err
	}
	s.Stationary = s.Residual <= stationaryAt
	s.Round++
	if s.Done = s.Stationary || s.Round == len(firstRoundings); s.Done {
		return nil
	}
	return s.beginRound(e)
}

// measure hands over those of the multipliers so far and the dual variables that
// show the best point to be the more stationary one.
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
		e.SetMultipliers(s.Dual)
	}
	s.Multipliers = append(s.Multipliers[:0], s.Dual...)
	s.Residual = residual
	return nil
}

// with measures the best point with the multipliers given.
func (s *PrimalDualState) with(e *framework.Evaluator, dual []float64) (float64, error) {
	e.SetMultipliers(dual)
	return e.Stationarity(s.X)
}
