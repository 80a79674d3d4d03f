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

// clearDecrease is the decrease of the cost in an iteration that a constant of 1e6
// leaves well above rounding.
const clearDecrease = 1e-2

// hiddenByRounding is the decrease of a cost, relative to it, that rounding hides.
const hiddenByRounding = 1e-14

// addedConstant tries that a constant added to the cost changes neither how a run
// ends nor, as far as costs can be told apart, its iterates. Sweeps, whose costs have a known
// zero, are left out: when to accelerate them goes by the relative decrease. A solver that does
// not tell its gradient may end as stalled where rounding hides what is left.
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

// iterates returns those of a run with a constant added to the cost, from the start
// to the first that lowers it by less than clearDecrease, and how the run ends.
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

// firstWithin tries that a run ends at the first iterate within the tolerance,
// where the solver tells its gradient.
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

// toldGradient compares the gradient that a state tells with that of the problem.
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
