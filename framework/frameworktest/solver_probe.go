package frameworktest

import (
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

// probe counts the evaluations of a problem and interferes with them. It offers the
// capabilities without which a selective solver refuses a problem, and
// hides the others, so that every evaluation is seen.
type probe struct {
	framework.Problem
	calls   int
	on      int    // the call that triggers do
	do      func() // nil: nothing
	nanFrom int    // 0: never
}

// see counts a call that is about to be made.
func (p *probe) see() {
	p.calls++
	if p.do != nil && p.calls == p.on {
		p.do()
	}
}

// tell returns the cost that such a call has computed.
func (p *probe) tell(cost float64) float64 {
	if p.nanFrom > 0 && p.calls >= p.nanFrom {
		return math.NaN()
	}
	return cost
}

func (p *probe) Evaluate(grad, x framework.Point) (float64, error) {
	p.see()
	cost, err := p.Problem.Evaluate(grad, x)
	return p.tell(cost), err
}

func (p *probe) ArrowheadShape() (latent.ArrowheadShape, bool) {
	if a, ok := p.Problem.(latent.ArrowheadHessian); ok {
		return a.ArrowheadShape()
	}
	return latent.ArrowheadShape{}, false
}

func (p *probe) AssembleHessian(a *latent.Arrowhead, x framework.Point) (cost, passes float64, err error) {
	p.see()
	cost, passes, err = p.Problem.(latent.ArrowheadHessian).AssembleHessian(a, x)
	return p.tell(cost), passes, err
}

func (p *probe) RetractOuter(dst, x framework.Point, v []float64) error {
	return p.Problem.(latent.ArrowheadHessian).RetractOuter(dst, x, v)
}

func (p *probe) InnerStep(x framework.Point, other []float64) (cost, passes float64, err error) {
	p.see()
	cost, passes, err = p.Problem.(latent.ArrowheadHessian).InnerStep(x, other)
	return p.tell(cost), passes, err
}

func (p *probe) OuterBlocks() []int {
	if s, ok := p.Problem.(latent.Sweeper); ok {
		return s.OuterBlocks()
	}
	return nil
}

func (p *probe) Sweep(next, x framework.Point) (float64, error) {
	p.see()
	cost, err := p.Problem.(latent.Sweeper).Sweep(next, x)
	return p.tell(cost), err
}

func (p *probe) Groups() [][]int {
	if b, ok := p.Problem.(latent.BlockMinimizer); ok {
		return b.Groups()
	}
	return nil
}

func (p *probe) MinimizeGroup(dst, x framework.Point, g int) (cost, passes float64, err error) {
	p.see()
	cost, passes, err = p.Problem.(latent.BlockMinimizer).MinimizeGroup(dst, x, g)
	return p.tell(cost), passes, err
}
