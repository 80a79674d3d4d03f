package frameworktest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

const (
	// dualTolerance is the relative error up to which derivatives of the primal-dual
	// system and of the rounded cost agree.
	dualTolerance = 1e-8
	// dualStep is the length of a step, in units of those of draw, along which dual
	// variables are linear up to dualBend of their change.
	dualStep, dualBend = 1e-6, 1e-2
	// longStep is the length of steps that inner rows should not have taken.
	longStep = 30
)

// checkPrimalDual tries the laws of latent.PrimalDual. They
// need a kink: where the problem says that there is none, they are not tried.
func (k *arrowCheck) checkPrimalDual(r *Report) {
	p, ok := k.problemCheck.p.(latent.PrimalDual)
	if !ok {
		return
	}
	d := &dualCheck{arrowCheck: k, d: p}
	r.try("dual scale", d.measure)
	if !r.OK() || d.n == 0 {
		return
	}
	defer p.Smooth(0)
	p.Smooth(smoothedShare * d.scale)
	r.try("dual variables", d.start)
	if !r.OK() {
		return
	}
	r.try("primal-dual derivatives", d.derivatives)
	r.try("primal-dual gradient", d.gradients)
	r.try("dual moves", d.moves)
	r.try("inner rows shortened", d.shortens)
	p.Smooth(0)
	if c, ok := p.(framework.Certifier); ok {
		r.try("multipliers", func() error { return d.multipliers(c) })
	}
}

// dualCheck checks dual variables at the point of a problemCheck.
type dualCheck struct {
	*arrowCheck
	d     latent.PrimalDual
	n     int
	scale float64
	dual  []float64 // those that belong to the point
}

// unmoved tries something that must leave the point as it is.
func (c *dualCheck) unmoved(try func() error) error {
	before := c.x.Clone()
	if err := try(); err != nil {
		return err
	}
	if !before.Equal(c.x) {
		return errors.New("the point is changed")
	}
	return nil
}

func (c *dualCheck) measure() error {
	return c.unmoved(func() (err error) {
		c.n, c.scale, err = c.d.DualScale(c.x)
		if err == nil && (c.n < 0 || c.n > 0 && !(c.scale > 0) || math.IsInf(c.scale, 0)) {
			return fmt.Errorf("there are %d dual variables, the scale is %v", c.n, c.scale)
		}
		return err
	})
}

// start asks for dual variables twice.
func (c *dualCheck) start() error {
	c.dual = poisoned(c.n)
	again := poisoned(c.n)
	err := c.unmoved(func() error {
		return errors.Join(c.d.StartDual(c.dual, c.x), c.d.StartDual(again, c.x))
	})
	if err == nil {
		err = allFinite(c.dual)
	}
	if err == nil && !slices.Equal(c.dual, again) {
		err = errors.New("they are others the second time")
	}
	if err == nil && floats.Norm(c.dual, math.Inf(1)) == 0 {
		err = errors.New("they are all 0")
	}
	return err
}

// derivatives compares those of the system, with the dual variables of the point, with
// those of the rounded cost.
func (c *dualCheck) derivatives() error {
	want, got := latent.NewArrowhead(c.a.ArrowheadShape), latent.NewArrowhead(c.a.ArrowheadShape)
	cost, _, err := c.p.AssembleHessian(want, c.x)
	if err != nil {
		return err
	}
	dual := slices.Clone(c.dual)
	var again, passes float64
	err = c.unmoved(func() (err error) {
		again, passes, err = c.d.AssemblePrimalDual(got, c.x, dual)
		return err
	})
	switch {
	case err != nil:
		return err
	case !slices.Equal(dual, c.dual):
		return errors.New("the dual variables are changed")
	case !(passes > 0):
		return fmt.Errorf("it costs %v passes", passes)
	case !(math.Abs(again-cost) <= dualTolerance*math.Abs(cost)):
		return fmt.Errorf("the rounded cost is %v, and %v with the system", cost, again)
	}
	return sameArrowhead(got, want, true)
}

// gradients tries that those of the system are those of the rounded cost for other dual
// variables too, and that second derivatives depend on these.
func (c *dualCheck) gradients() error {
	want, got := latent.NewArrowhead(c.a.ArrowheadShape), latent.NewArrowhead(c.a.ArrowheadShape)
	_, _, err := c.d.AssemblePrimalDual(want, c.x, c.dual)
	_, _, err2 := c.d.AssemblePrimalDual(got, c.x, times(0.5, c.dual))
	if err := errors.Join(err, err2, sameArrowhead(got, want, false)); err != nil {
		return err
	}
	if sameArrowhead(got, want, true) == nil {
		return errors.New("second derivatives do not depend on the dual variables")
	}
	return nil
}

// sameArrowhead compares gradients and, if that is said, second derivatives.
func sameArrowhead(got, want *latent.Arrowhead, second bool) error {
	type part struct {
		name      string
		got, want []float64
	}
	parts := []part{{"outer gradient", got.OuterGrad, want.OuterGrad}, {"inner gradient", got.InnerGrad, want.InnerGrad}}
	if second {
		parts = append(parts, part{"block A", got.A, want.A}, part{"block B", got.B, want.B}, part{"block C", got.C, want.C})
	}
	for _, p := range parts {
		if off := largestDifference(p.got, p.want); !(off <= dualTolerance*floats.Norm(p.want, math.Inf(1))) {
			return fmt.Errorf("the %s is off by %g", p.name, off)
		}
	}
	return nil
}

// moves compares dual variables that move along with a short step with those that belong
// to its end, and tries that parts of it are parts.
func (c *dualCheck) moves() error {
	cost, _, err := c.p.AssembleHessian(c.a, c.x) // of the rounded cost, for draw
	if err != nil {
		return err
	}
	defer func(before float64) { c.cost = before }(c.cost)
	c.cost = cost
	v, w := c.draw(true, true)
	floats.Scale(dualStep, v)
	floats.Scale(dualStep, w)
	there := c.x.Clone()
	exact := poisoned(c.n)
	if err := c.p.RetractOuter(there, c.x, v); err != nil {
		return err
	}
	floats.Add(there[c.a.Block], w)
	if err := c.d.StartDual(exact, there); err != nil {
		return err
	}
	change := floats.Distance(exact, c.dual, 2)
	for _, fraction := range []float64{1, 0.5, 0} {
		moved, want := slices.Clone(c.dual), slices.Clone(c.dual)
		floats.AddScaled(want, fraction, exact)
		floats.AddScaled(want, -fraction, c.dual)
		if err := c.unmoved(func() error { return c.d.MoveDual(moved, c.x, v, w, fraction) }); err != nil {
			return err
		}
		if off := floats.Distance(moved, want, 2); !(off <= dualBend*change) {
			return fmt.Errorf("%g of a move that changes them by %g is off by %g", fraction, change, off)
		}
	}
	return nil
}

// shortens sends inner rows far away, with and without reason to.
func (c *dualCheck) shortens() error {
	_, w := c.draw(false, true)
	from, far := c.x[c.a.Block], c.x.Clone()
	floats.AddScaled(far[c.a.Block], longStep, w)
	bad, err := c.problemCheck.p.Evaluate(nil, far)
	good, err2 := c.c0()
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	x := far.Clone()
	cost, passes, err := c.d.ShortenInner(x, slices.Clone(from))
	if err != nil {
		return err
	}
	now, err := c.problemCheck.p.Evaluate(nil, x)
	switch noise := 1e-9 * math.Abs(bad); {
	case err != nil:
		return err
	case !(passes > 0):
		return fmt.Errorf("it costs %v passes", passes)
	case !(math.Abs(cost-now) <= noise):
		return fmt.Errorf("the rounded cost is %v, but it returns %v", now, cost)
	case now > bad+noise, bad > good+noise && !(now < bad):
		return fmt.Errorf("the rounded cost is %v, %v before and %v where the rows were", now, bad, good)
	}
	for j := range x {
		if j != c.a.Block && !slices.Equal(x[j], c.x[j]) {
			return fmt.Errorf("it moves block %s", c.blocks[j].Name)
		}
	}
	for i := range c.a.Rows {
		row := func(y []float64) []float64 { return y[i*c.a.Dim : (i+1)*c.a.Dim] }
		now, old, step := row(x[c.a.Block]), row(from), row(far[c.a.Block])
		whole := floats.Distance(step, old, 2)
		if detour := floats.Distance(now, old, 2) + floats.Distance(now, step, 2); !(detour <= whole*(1+1e-9)) {
			return fmt.Errorf("row %d is not on the way back", i)
		}
	}
	return nil
}

// multipliers tries that the measure of stationarity keeps a copy of them until they are
// taken away.
func (c *dualCheck) multipliers(p framework.Certifier) error {
	defer c.d.SetMultipliers(nil)
	measure := func() []float64 {
		s := poisoned(len(c.blocks))
		if err := p.Stationarity(s, c.x); err != nil {
			panic(err) // a broken law
		}
		return s
	}
	c.d.SetMultipliers(nil)
	without := measure()
	dual := slices.Clone(c.dual)
	c.d.SetMultipliers(dual)
	with := measure()
	if err := allFinite(without, with); err != nil {
		return err
	}
	fill(dual, math.NaN())
	if !slices.Equal(with, measure()) {
		return errors.New("it measures with the slice that it was given, not with a copy")
	}
	c.d.SetMultipliers(nil)
	if !slices.Equal(without, measure()) {
		return errors.New("it measures with multipliers that were taken away")
	}
	return nil
}
