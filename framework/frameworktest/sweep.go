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
	// alternations is the number of sweeps that a law observes.
	alternations = 60
	// convergedStep is the ratio of step lengths at which the law stops.
	convergedStep = 1e-5
	// costNoise is the largest relative difference of costs that should agree.
	costNoise = 1e-9
)

// checkSweep tests the laws of problems that can alternate between blocks.
func (c *problemCheck) checkSweep(r *Report) {
	if p, ok := c.p.(latent.Sweeper); ok && len(p.OuterBlocks()) > 0 {
		r.try("sweep", func() error { return c.sweepOnce(p) })
		r.try("sweeps descend to a stationary point", func() error { return c.descends(p) })
	}
}

// sweepOnce checks what one sweep writes and returns: the cost at the new inner blocks.
func (c *problemCheck) sweepOnce(p latent.Sweeper) error {
	outer := p.OuterBlocks()
	if !slices.IsSorted(outer) || outer[0] < 0 || outer[len(outer)-1] >= len(c.blocks) {
		return fmt.Errorf("the outer blocks are %v", outer)
	}
	before, err := c.p.Evaluate(nil, c.x)
	if err != nil {
		return err
	}
	start, next, at := c.x.Clone(), c.poisoned(), c.x.Clone()
	cost, err := p.Sweep(next, c.x)
	if err != nil {
		return err
	}
	if !start.Equal(c.x) {
		return errors.New("changes the point it is given")
	}
	for k, b := range c.blocks {
		if !(framework.Point{next[k]}).Finite() {
			return fmt.Errorf("some of block %s is not written or not finite", b.Name)
		}
		if !slices.Contains(outer, k) {
			copy(at[k], next[k])
		}
	}
	want, err := c.p.Evaluate(nil, at)
	if err != nil {
		return err
	}
	noise := costNoise * math.Max(math.Abs(before), math.Abs(want))
	if !(math.Abs(cost-want) <= noise) {
		return fmt.Errorf("returns %v where the cost of the new blocks is %v", cost, want)
	}
	if !(cost <= before+noise) {
		return fmt.Errorf("the cost of the new blocks is %v, above %v before", cost, before)
	}
	return nil
}

// descends repeats sweeps. The costs must not rise. When the steps have become short, the gradient must be small:
// otherwise the iteration minimises something else. At a kink of the cost the gradient does not count.
func (c *problemCheck) descends(p latent.Sweeper) error {
	x, next := c.x.Clone(), c.x.Clone()
	first, err := c.gradientNorm(x)
	if err != nil {
		return err
	}
	var longest, length float64
	last := math.Inf(1)
	for i := range alternations {
		cost, err := p.Sweep(next, x)
		if err != nil {
			return err
		}
		if i > 0 && !(cost <= last+costNoise*math.Abs(last)) {
			return fmt.Errorf("the cost rises from %v to %v in step %d", last, cost, i+1)
		}
		last = cost
		length = 0
		for k := range x {
			length += floats.Distance(next[k], x[k], 2) / (1 + floats.Norm(x[k], 2))
		}
		longest = math.Max(longest, length)
		x, next = next, x
		if length <= convergedStep*longest {
			break
		}
	}
	norm, err := c.gradientNorm(x)
	if err != nil {
		return err
	}
	// A step is at least of the order of the gradient by the curvature of the
	// majorizer, whose range a factor of 1000 covers.
	bound := 1e3*length/math.Max(longest, math.SmallestNonzeroFloat64) + 1e-6
	if norm > bound*first && !c.kinked(x, first) {
		return fmt.Errorf("steps have shortened to %.2g of the longest, but the gradient only to %.2g of the first", length/longest, norm/first)
	}
	return nil
}

// kinked reports whether the gradient jumps near x, measured by the given norm.
func (c *problemCheck) kinked(x framework.Point, norm float64) bool {
	const near, jump = 1e-3, 0.05
	v, moved, grads := c.directions(), x.Clone(), [2]framework.Point{c.poisoned(), c.poisoned()}
	v.Scale(near)
	blocks := framework.Product(c.blocks)
	blocks.Project(v, x, v)
	if blocks.Retract(moved, x, v) != nil {
		return false
	}
	for j, at := range []framework.Point{x, moved} {
		if _, err := c.p.Evaluate(grads[j], at); err != nil {
			return false
		}
	}
	grads[0].AddScaled(-1, grads[1])
	return grads[0].Norm() > jump*norm
}

// gradientNorm returns the norm of the Riemannian gradient.
func (c *problemCheck) gradientNorm(x framework.Point) (float64, error) {
	grad, blocks := c.poisoned(), framework.Product(c.blocks)
	if _, err := c.p.Evaluate(grad, x); err != nil {
		return 0, err
	}
	blocks.Gradient(grad, x, grad)
	return blocks.Norm(x, grad), nil
}
