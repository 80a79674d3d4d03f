package frameworktest

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// inputsUnchanged tests that an evaluation does not change its point.
func (c *problemCheck) inputsUnchanged() error {
	before := c.x.Clone()
	if _, err := c.p.Evaluate(c.poisoned(), c.x); err != nil {
		return err
	}
	if !before.Equal(c.x) {
		return fmt.Errorf("Evaluate changes the point it is given")
	}
	return nil
}

func (c *problemCheck) writesWhatIsAsked() error {
	all := c.poisoned()
	if _, err := c.p.Evaluate(all, c.x); err != nil {
		return err
	}
	if !all.Finite() {
		return fmt.Errorf("some of the gradient is not written or not finite")
	}
	for k, b := range c.blocks {
		g := make(framework.Point, len(c.blocks))
		g[k] = c.poisoned()[k]
		if _, err := c.p.Evaluate(g, c.x); err != nil {
			return err
		}
		if !slices.Equal(g[k], all[k]) {
			return fmt.Errorf("the gradient of block %s differs when it is asked for alone", b.Name)
		}
	}
	return nil
}

// sameCost is the relative difference up to which two costs count as equal.
const sameCost = 0x1p-42

func (c *problemCheck) sameCost() error {
	alone, err := c.p.Evaluate(nil, c.x)
	if err != nil {
		return err
	}
	with, err := c.p.Evaluate(c.poisoned(), c.x)
	if err != nil {
		return err
	}
	// The gradient may come from other operations in another order.
	if !(math.Abs(alone-with) <= sameCost*math.Max(math.Abs(alone), math.Abs(with))) {
		return fmt.Errorf("the cost is %v alone and %v with the gradient", alone, with)
	}
	return nil
}

// resume evaluates two points in turn, and resumes at each. The second round is needed because a problem may only
// start to store its work after the first.
func (c *problemCheck) resume() error {
	elsewhere, err := c.elsewhere()
	if err != nil {
		return err
	}
	for _, x := range []framework.Point{c.x, elsewhere, c.x, elsewhere} {
		want, got := c.poisoned(), c.poisoned()
		if _, err := c.p.Evaluate(want, x); err != nil {
			return err
		}
		if _, err := c.p.Evaluate(nil, x); err != nil {
			return err
		}
		if err := c.p.(resumer).Resume(got); err != nil {
			return err
		}
		for k, b := range c.blocks {
			if !floats.EqualApprox(got[k], want[k], 1e-12*(1+floats.Norm(want[k], math.Inf(1)))) {
				return fmt.Errorf("the gradients of Resume and of Evaluate differ in block %s", b.Name)
			}
		}
	}
	return nil
}
