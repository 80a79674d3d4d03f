package frameworktest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

// clearDecrease is a decrease of the cost well above rounding errors even with 1e6 added to the cost.
const clearDecrease = 1e-2

// hiddenByRounding is the largest decrease, relative to the cost, that rounding errors hide.
const hiddenByRounding = 1e-14

// addedConstant checks that a constant added to the cost changes neither the status at the end nor, up to
// rounding, the first iterates. It skips problems with sweeps, whose costs have a known zero: their acceleration
// depends on the relative decrease. A solver that does not report its gradient may stall where rounding hides the
// remaining decrease.
func (k *solverCheck) addedConstant() error {
	if s, ok := framework.As[latent.Sweeper](k.c.New()); ok && len(s.OuterBlocks()) > 0 {
		return nil
	}
	want, plain, err := k.iterates(0)
	if err != nil {
		return err
	}
	const compared = 10 // rounding grows along a path
	want = want[:min(len(want), compared)]
	for _, c := range []float64{1e3, 1e6} {
		got, ended, err := k.iterates(c)
		if err != nil {
			return err
		}
		told := !math.IsNaN(ended.History[len(ended.History)-1].GradientNorm)
		hidden := !told && ended.Status == framework.Stalled && ended.Cost-c-plain.Cost <= hiddenByRounding*c
		if ended.Status != plain.Status && !hidden {
			return fmt.Errorf("ends as %v with %g added to the cost, else as %v", ended.Status, c, plain.Status)
		}
		for i := range min(len(want), len(got)) {
			for j := range want[i] {
				if far := floats.Distance(want[i][j], got[i][j], 2); far > 1e-6*(1+floats.Norm(want[i][j], 2)) {
					return fmt.Errorf("with %g added to the cost iterate %d is off by %g", c, i, far)
				}
			}
		}
		if len(got) < len(want) {
			return fmt.Errorf("makes %d clear iterations with %g added to the cost, else %d", len(got), c, len(want))
		}
	}
	return nil
}

// iterates returns the iterates of a run with c added to the cost, up to the first iteration that lowers it by
// less than clearDecrease, and the result of the run.
func (k *solverCheck) iterates(c float64) (list []framework.Point, res *framework.Result, err error) {
	o := k.o
	before, clear := math.Inf(1), true
	o.Observers = append(o.Observers, func(p framework.Record) {
		clear = clear && before-p.Cost > clearDecrease
		before = p.Cost
		if x, _ := p.State.Iterate(); clear {
			list = append(list, x.Clone())
		}
	})
	res, err = k.solve((&probe{by: c}).of(context.Background()), k.c.New(), o)
	return list, res, err
}

// firstWithin checks that a run ends at the first iterate whose gradient norm is within the tolerance, if the
// solver reports its gradient.
func (k *solverCheck) firstWithin() error {
	o := k.o
	o.Tolerance = 1e-3
	var norms []float64
	o.Observers = append(o.Observers, func(p framework.Record) { norms = append(norms, p.GradientNorm) })
	res, err := k.solve(context.Background(), k.c.New(), o)
	if err != nil {
		return err
	}
	known := false
	for i, norm := range norms {
		known = known || !math.IsNaN(norm)
		if i < len(norms)-1 && i > 0 && norm < o.Tolerance {
			return fmt.Errorf("goes on from iteration %d, where the gradient norm is %g and the tolerance %g", i, norm, o.Tolerance)
		}
	}
	if known && res.Status != framework.Converged {
		return fmt.Errorf("says %v at a gradient norm of %g, the tolerance is %g", res.Status, norms[len(norms)-1], o.Tolerance)
	}
	return k.toldGradient()
}

// toldGradient compares the gradient that a state reports with the gradient of the problem.
func (k *solverCheck) toldGradient() error {
	e := framework.NewEvaluator(context.Background(), k.c.New())
	state, err := k.s.Init(e, k.c.Start.Clone())
	if err != nil {
		return err
	}
	for range 3 {
		if err := k.steps(e, state, 1); err != nil {
			return err
		}
		s, ok := state.(graded)
		if !ok || s.Gradient() == nil {
			return nil
		}
		x, _ := state.Iterate()
		want := framework.NewPoint(e.Blocks())
		if _, err := k.c.New().Evaluate(want, x); err != nil {
			return err
		}
		for j, b := range e.Blocks() {
			b.Gradient(want[j], x[j], want[j])
			if off := floats.Distance(want[j], s.Gradient()[j], 2); off > 1e-9*(1+floats.Norm(want[j], 2)) {
				return errors.New("the gradient that the state tells is not that at its iterate")
			}
		}
	}
	return nil
}
