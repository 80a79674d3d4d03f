package frameworktest

import (
	"math/rand/v2"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

// ProblemOptions define where and how a problem is checked.
type ProblemOptions struct {
	// Point is a point at which the cost is smooth. nil draws a random point, for which all manifolds of the blocks
	// need random points.
	Point framework.Point
	// Seed makes the random directions reproducible.
	Seed uint64
}

// CheckProblem tests the laws of framework.Problem and of the optional interfaces that p implements. It tests
// gradients and Hessians by the order of their Taylor remainders, and that an evaluation writes what is requested and
// nothing else.
func CheckProblem(name string, p framework.Problem, o ProblemOptions) *Report {
	r := &Report{Subject: name}
	c := &problemCheck{p: p, rng: rand.New(rand.NewPCG(o.Seed, 1))}
	r.try("blocks", func() error { return c.blocksAreSound() })
	if !r.OK() {
		return r
	}
	r.try("point", func() error { return c.choosePoint(o.Point) })
	if !r.OK() {
		return r
	}
	r.try("inputs unchanged", c.inputsUnchanged)
	for k, b := range c.blocks {
		if b.Dim() > 0 {
			r.try("gradient slope of "+b.Name, func() error { return c.gradientSlope(k) })
		}
	}
	_, twice := p.(framework.TwiceDifferentiable)
	_, intrinsic := p.(intrinsicHessian)
	if twice || intrinsic {
		c.checkHessian(r)
	}
	r.try("writes what is asked for", c.writesWhatIsAsked)
	r.try("same cost with gradient", c.sameCost)
	if _, ok := p.(resumer); ok {
		r.try("resume", c.resume)
	}
	if _, ok := p.(latent.RowSeparable); ok {
		c.checkRows(r)
	}
	if _, ok := p.(framework.Certifier); ok {
		r.try("stationarity", c.stationarity)
	}
	if l, ok := p.(refuter); ok {
		r.try("refutation", func() error { return c.refutation(l) })
	}
	if l, ok := p.(stateful); ok {
		r.try("stored state", func() error { return c.storedState(l) })
	}
	c.checkPreconditioner(r)
	c.checkSmoothable(r)
	c.checkGaussNewton(r)
	c.checkSweep(r)
	return r
}

// TestProblem reports every broken law to t.
func TestProblem(t TB, name string, p framework.Problem, o ProblemOptions) {
	t.Helper()
	CheckProblem(name, p, o).test(t)
}
