package solvers

import (
	"math"

	"github.com/scqm/scqm/framework"
)

// Stochastic is [Streaming] with a better start: one read or two of the data, in parts
// drawn at random, bring it near the minimum before the first pass over all of them. A
// draw k at the point y_k finds the majorizer g_k of the cost of its part, as a sweep does, and
//
//	G_k = (1 - rho_k) G_{k-1} + rho_k g_k,   rho_k = (k + 2)^-Decay,
//	y_{k+1} = argmin G_k.
//
// Where no majorizers can be summed, the read goes to growing samples of the data, which
// Newton's method fits one after the other ([framework.Sampler]).
//
// Passes over all data follow until the point is stationary, so that a run that ends
// converged is as good as any other; limits end it before, as they do every run.
//
// The zero value is ready to use.
//
// Source: J. Mairal, Stochastic majorization-minimization algorithms for large-scale
// optimization, NIPS 26 (2013).
type Stochastic struct {
	// Reads is the number of times that all data are drawn; 0 stands for 1. Samples are
	// read, at every point that is tried, as often as makes so many reads of all data.
	Reads int
	// Decay is the exponent of the weights of draws, between 1/2 and 1; 0 stands for 0.7.
	Decay float64
}

const (
	defaultReads = 1
	defaultDecay = 0.7
	// restedDraws are those at the start from which the point does not move: the average
	// of so few says too little.
	restedDraws = 3
)

// stochasticFinish goes on over all data. So near the minimum mixing takes the fewest sweeps
// from the first one on.
var stochasticFinish = Continuation{Inner: Alternating{SlowDecrease: -1}}

// Name returns "stochastic".
func (Stochastic) Name() string { return "stochastic" }

// Lacks implements [framework.Selective].
func (Stochastic) Lacks(p framework.Problem) string {
	if s, ok := p.(framework.StochasticSweeper); ok && s.Draws() > 0 {
		return ""
	}
	if isSampled(p) {
		return ""
	}
	return "sweeps over parts of the data (StochasticSweeper), as fits of the model scqm have for l2, squared_l2 and huber, or second derivatives of samples (Sampler)"
}

// isSampled reports whether growing samples of a problem are fitted.
func isSampled(p framework.Problem) bool {
	s, ok := p.(framework.Sampler)
	return ok && s.Parts() > 0
}

// NewState returns an empty state for a stored run.
func (Stochastic) NewState() framework.State {
	sampledFinish.NewState()
	return stochasticFinish.NewState()
}

// finish is what goes on over all data.
func (Stochastic) finish(e *framework.Evaluator) Continuation {
	if isSampled(e.Problem()) {
		return sampledFinish
	}
	return stochasticFinish
}

// Init draws all data or grows samples, and begins the passes over all of them.
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

// draw moves x by as many reads of all data.
func (s Stochastic) draw(e *framework.Evaluator, x framework.Point) error {
	return s.average(e, x, max(s.Reads, defaultReads)*e.Problem().(framework.StochasticSweeper).Draws())
}

// average moves x by so many draws.
func (s Stochastic) average(e *framework.Evaluator, x framework.Point, draws int) error {
	decay := s.Decay
	if decay == 0 {
		decay = defaultDecay
	}
	next := framework.NewPoint(e.Blocks())
	for k := range draws {
		if err := e.SweepDraw(next, x, k, math.Pow(float64(k+2), -decay)); err != nil {
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
