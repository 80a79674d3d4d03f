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
	// alternations is the number of sweeps or minimisations that a law watches.
	alternations = 60
	// convergedStep is the ratio of step lengths at which it stops watching.
	convergedStep = 1e-5
	// costNoise is how far costs that should agree may differ, relatively.
	costNoise = 1e-9
)

// checkSweep tries the laws of problems that can alternate between blocks.
func (c *problemCheck) checkSweep(r *Report) {
	if p, ok := c.p.(latent.Sweeper); ok && len(p.OuterBlocks()) > 0 {
		r.try("sweep", func() error { return c.sweepOnce(p) })
		r.try("sweeps descend to a stationary point", func() error {
			return c.descends(p.Sweep)
		})
	}
	p, ok := c.p.(latent.BlockMinimizer)
	if !ok {
		return
	}
	for g, group := range p.Groups() {
		r.try(fmt.Sprintf("minimisation over group %d", g), func() error { return c.minimizeOnce(p, g, group) })
		r.try(fmt.Sprintf("minimisations over group %d end at a stationary point", g), func() error {
			return c.descends(func(next, x framework.Point) (float64, error) {
				next.CopyFrom(x)
				cost, _, err := p.MinimizeGroup(next, x, g)
				return cost, err
			}, group...)
		})
	}
}

// sweepOnce looks at what one sweep writes and returns: the cost at the new inner blocks.
func (c *problemCheck) sweepOnce(p latent.Sweeper) error {
	outer := p.OuterBlocks()
	if !slices.IsSorted(outer) || outer[0] < 0 || outer[len(outer)-1] >= len(c.blocks) {
		return fmt.Errorf("the outer blocks are %v", outer)
	}
	return c.once(p.Sweep, func(k int) bool { return true }, func(k int) bool { return !slices.Contains(outer, k) })
}

// minimizeOnce looks at what one minimisation writes and returns: the cost at the minimum.
func (c *problemCheck) minimizeOnce(p latent.BlockMinimizer, g int, group []int) error {
	inGroup := func(k int) bool { return slices.Contains(group, k) }
	return c.once(func(dst, x framework.Point) (float64, error) {
		cost, _, err := p.MinimizeGroup(dst, x, g)
		return cost, err
	}, inGroup, inGroup)
}

// once makes one step of an alternation, which leaves its point alone and writes the
// blocks that it should, and compares the cost that it returns with the cost before and
// that where the blocks named are the new ones.
func (c *problemCheck) once(step func(next, x framework.Point) (float64, error), writes, isNew func(k int) bool) error {
	before, err := c.p.Evaluate(nil, c.x)
	if err != nil {
		return err
	}
	start, next, at := c.x.Clone(), c.poisoned(), c.x.Clone()
	cost, err := step(next, c.x)
	if err != nil {
		return err
	}
	if !start.Equal(c.x) {
		return errors.New("changes the point it is given")
	}
	for k, b := range c.blocks {
		switch {
		case !writes(k) && slices.ContainsFunc(next[k], func(v float64) bool { return !math.IsNaN(v) }):
			return fmt.Errorf("block %s is written, but not in the group", b.Name)
		case writes(k) && !(framework.Point{next[k]}).Finite():
			return fmt.Errorf("some of block %s is not written or not finite", b.Name)
		case isNew(k):
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

// descends repeats an alternation. The costs must not rise, and when the steps
// have become short, so must the gradient of the blocks listed, none standing
// for all: an iteration that converges elsewhere minimises something else. At a
// kink of the cost the gradient says nothing.
func (c *problemCheck) descends(step func(next, x framework.Point) (float64, error), group ...int) error {
	x, next := c.x.Clone(), c.x.Clone()
	first, err := c.gradientNorm(x, group)
	if err != nil {
		return err
	}
	var longest, length float64
	last := math.Inf(1)
	for i := range alternations {
		cost, err := step(next, x)
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
	norm, err := c.gradientNorm(x, group)
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

// kinked reports whether the gradient jumps near x, measured by the norm given.
func (c *problemCheck) kinked(x framework.Point, norm float64) bool {
	const near, jump = 1e-3, 0.05
	moved, grads := x.Clone(), [2]framework.Point{c.poisoned(), c.poisoned()}
	for k, b := range c.blocks {
		v := c.direction(k)
		floats.Scale(near, v)
		b.Project(v, x[k], v)
		if b.Retract(moved[k], x[k], v) != nil {
			return false
		}
	}
	var change float64
	for j, at := range []framework.Point{x, moved} {
		if _, err := c.p.Evaluate(grads[j], at); err != nil {
			return false
		}
	}
	for k := range x {
		change = math.Hypot(change, floats.Distance(grads[0][k], grads[1][k], 2))
	}
	return change > jump*norm
}

// gradientNorm returns the norm of the Riemannian gradient of some blocks, or
// of all.
func (c *problemCheck) gradientNorm(x framework.Point, group []int) (float64, error) {
	grad := c.poisoned()
	if _, err := c.p.Evaluate(grad, x); err != nil {
		return 0, err
	}
	var norm float64
	for k, b := range c.blocks {
		if len(group) > 0 && !slices.Contains(group, k) {
			continue
		}
		b.Gradient(grad[k], x[k], grad[k])
		norm = math.Hypot(norm, b.Norm(x[k], grad[k]))
	}
	return norm, nil
}
