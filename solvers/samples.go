package solvers

import (
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

const (
	// The first sample is a part 1/firstSample of the data, of leastParts parts at least
	// where these are no more than a part 1/largestFirst. Others are sampleGrowth times as
	// large as the one before, but for the last one, half of what is left to read, which is
	// read before and after a step.
	firstSample, largestFirst, leastParts, sampleGrowth = 64, 8, 6, 8
	// sampledStages is the number of steps of [Continuation] that samples replace.
	sampledStages = 3
	// sampledSteps bounds the Newton steps on a sample at one smoothing length.
	sampledSteps = 20
	// approach draws a part 1/approachPart of a read.
	approachPart = 4
)

// sampledFinish continues over all data, from the last smoothing length on the samples.
var sampledFinish = Continuation{Inner: Newton{}, LastTolerance: streamedTolerance, Begin: sampledStages}

// samples is a run of Newton's method on growing samples of the data. Each is warm-started at the end of the
// last, and ends when the predicted reduction is below the expected sampling error: more would fit the sample
// and not the data.
type samples struct {
	e     *framework.Evaluator
	p     latent.Sampler
	x     framework.Point
	state *NewtonState
	eps   float64 // the first smoothing length; 0 for none
	left  float64 // budget: parts still to be read
	kept  float64 // the part of it reserved for larger samples
}

// grow moves x within a budget of Reads reads of all data, or slightly more if the first sample needs it.
func (s Stochastic) grow(e *framework.Evaluator, x framework.Point) error {
	p, _ := framework.As[latent.Sampler](e.Problem())
	all := p.Parts()
	g := &samples{e: e, p: p, x: x, left: float64(max(s.Reads, defaultReads) * all)}
	if err := s.approach(g); err != nil {
		return err
	}
	scale, err := e.SmoothingScale(x)
	if err != nil {
		return err
	}
	if scale > 0 {
		_, exponent := math.Frexp(scale)
		g.eps = math.Ldexp(0.5, exponent)
	}
	size := max(1, all/firstSample, min(leastParts, all/largestFirst))
	last := math.Pow(sampledFinish.withDefaults().Factor, sampledStages)
	for lengths := []float64{1, last}; size > 0; lengths = []float64{last} {
		if g.kept = 0; 4*float64(size) <= g.left {
			g.kept = g.left / 2
		}
		if err := g.fit(size, lengths); err != nil {
			return err
		}
		size = g.next(size, all)
	}
	return nil
}

// approach draws parts of the data for a similar problem that supports it, and moves x near the minimum of
// that: from afar Newton's method takes many steps, and a few outliers can put a start there.
func (s Stochastic) approach(g *samples) error {
	p, ok := framework.As[latent.StochasticSweeper](g.p)
	if !ok || p.Draws() == 0 {
		return nil
	}
	draws := p.Draws() / approachPart
	if draws <= restedDraws {
		return nil
	}
	g.left -= float64(draws) * float64(g.p.Parts()) / float64(p.Draws())
	return s.average(g.e, g.x, draws)
}

// next is the size of the next sample, 0 for none.
func (g *samples) next(size, all int) int {
	last := min(int(g.left/2), all)
	switch {
	case last > 2*sampleGrowth*size:
		return sampleGrowth * size
	case 4*last > 5*size:
		return last
	}
	return 0
}

// fit runs on one sample, over the smoothing lengths listed, relative to the first.
func (g *samples) fit(size int, lengths []float64) error {
	return latent.Sample(g.e, size, func() error {
		if g.eps == 0 {
			return g.minimize(size)
		}
		defer g.e.Smooth(0)
		for _, length := range lengths {
			g.e.Smooth(g.eps * length)
			if err := g.minimize(size); err != nil {
				return err
			}
		}
		return nil
	})
}

// minimize takes one step, and more while their predicted reduction exceeds the sampling error.
func (g *samples) minimize(size int) error {
	if err := g.begin(); err != nil {
		return err
	}
	g.left -= float64(size)
	most, s := g.p.SamplingError(size), g.state
	for k := range sampledSteps {
		if !s.Assembled {
			if _, err := s.assemble(g.e); err != nil { // was read with the step
				return err
			}
		}
		moved, err := g.step(size, k > 0, most)
		if err != nil {
			return err
		}
		if !moved {
			break
		}
	}
	g.x.CopyFrom(s.X)
	return nil
}

// step tries steps, one read of the sample each, until one is accepted, the budget is spent, or the predicted
// reduction is too small.
func (g *samples) step(size int, weigh bool, most float64) (moved bool, err error) {
	s := g.state
	for g.left-g.kept >= float64(size) && s.Mu <= maxDamping {
		predicted := s.schur.solve(s.Mu)
		if weigh && !(predicted > most*math.Abs(s.Cost)) {
			return false, nil
		}
		cost, err := s.try(g.e)
		if err != nil {
			return false, err
		}
		g.left -= float64(size)
		if s.accept(cost, predicted) {
			return true, nil
		}
		s.Mu, s.Nu, weigh = max(s.Mu, minDamping)*s.Nu, 2*s.Nu, true
	}
	return false, nil
}

// begin starts Newton's method at x with its initial damping: the smaller one of the last sample led to
// rejected steps, each a whole read.
func (g *samples) begin() error {
	if g.state != nil {
		return Newton{}.Restart(g.e, g.state, g.x)
	}
	state, err := Newton{}.Init(g.e, g.x.Clone())
	if err == nil {
		g.state = state.(*NewtonState)
	}
	return err
}
