package solvers

import (
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

// Stochastic is [Streaming] with a better start: one read or two of the data, in parts
// drawn at random, bring it near the minimum before the first pass over all of them. A
// draw k at the point y_k finds the majorizer g_k of the cost of its part, as a sweep does, and
//
//	G_k = (1 - rho_k) G_{k-1} + rho_k g_k,   rho_k = (k + 2)^-Decay,
//	y_{k+1} = argmin G_k.
//
// Where no majorizers can be summed, the read is spent on growing samples of the data, which
// Newton's method fits one after the other ([latent.Sampler]).
//
// Passes over all data follow until the point is stationary, so that a run that has
// converged meets the same tolerance as with any solver.
//
// The zero value is ready to use.
//
// Source: J. Mairal, Stochastic majorization-minimization algorithms for large-scale
// optimization, NIPS 26 (2013).
type Stochastic struct {
	// Reads is the budget of draws, in reads of all data; 0 stands for 1. Samples are
	// read once for every trial point, within the same budget.
	Reads int
	// Decay is the exponent of the weights of draws, between 1/2 and 1; 0 stands for 0.7.
	Decay float64
}

const (
	defaultReads = 1
	defaultDecay = 0.7
	// restedDraws is the number of first draws that do not move the point, as an average of so few is
	// unreliable.
	restedDraws = 3
)

// stochasticFinish continues over all data. So near the minimum, Anderson acceleration from the first sweep
// takes the fewest sweeps.
var stochasticFinish = Continuation{Inner: Alternating{SlowDecrease: -1}}

// Name returns "stochastic".
func (Stochastic) Name() string { return "stochastic" }

// Lacks implements [framework.Solver].
func (Stochastic) Lacks(p framework.Problem) string {
	if s, ok := framework.As[latent.StochasticSweeper](p); ok && s.Draws() > 0 {
		return ""
	}
	if isSampled(p) {
		return ""
	}
	return "sweeps over parts of the data (StochasticSweeper), as fits of the model scqm have for l2, squared_l2 and huber, or second derivatives of samples (Sampler)"
}

// isSampled reports whether growing samples of a problem are fitted.
func isSampled(p framework.Problem) bool {
	s, ok := framework.As[latent.Sampler](p)
	return ok && s.Parts() > 0
}

// NewState returns an empty state for a stored run.
func (Stochastic) NewState() framework.State {
	sampledFinish.NewState()
	return stochasticFinish.NewState()
}

// finish is the solver over all data.
func (Stochastic) finish(e *framework.Evaluator) Continuation {
	if isSampled(e.Problem()) {
		return sampledFinish
	}
	return stochasticFinish
}

// Init spends the budget on draws or samples, and starts the passes over all data.
func (s Stochastic) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	if err := Supports(s, e.Problem()); err != nil {
		return nil, err
	}
	begin := s.draw
	if isSampled(e.Problem()) {
		begin = s.grow
	}
	if err := begin(e, x); err != nil {
		return nil, err
	}
	return s.finish(e).Init(e, x)
}

// draw moves x by a budget of Reads reads of all data.
func (s Stochastic) draw(e *framework.Evaluator, x framework.Point) error {
	p, _ := framework.As[latent.StochasticSweeper](e.Problem())
	return s.average(e, x, max(s.Reads, defaultReads)*p.Draws())
}

// average moves x by the given number of draws.
func (s Stochastic) average(e *framework.Evaluator, x framework.Point, draws int) error {
	decay := s.Decay
	if decay == 0 {
		decay = defaultDecay
	}
	next := framework.NewPoint(e.Blocks())
	for k := range draws {
		if err := latent.SweepDraw(e, next, x, k, math.Pow(float64(k+2), -decay)); err != nil {
			return err
		}
		if k >= min(restedDraws, draws-1) {
			x.CopyFrom(next)
		}
	}
	return nil
}

// Step does one iteration over all data.
func (s Stochastic) Step(e *framework.Evaluator, state framework.State) error {
	return s.finish(e).Step(e, state)
}
