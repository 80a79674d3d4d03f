package frameworktest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/scqm/scqm/framework"
	"gonum.org/v1/gonum/floats"
)

// ProblemOptions say where and how a problem is checked.
type ProblemOptions struct {
	// Point is a point at which the cost is smooth; nil draws one from the
	// blocks' manifolds, which must all be able to.
	Point framework.Point
	// Seed makes the random directions reproducible.
	Seed uint64
}

// CheckProblem tries the laws of framework.Problem and of the optional
// interfaces that p implements: gradients and Hessians by the order of their
// Taylor remainders, and that an evaluation writes what it is asked for and
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
	r.try("writes what is asked for", c.writesWhatIsAsked)
	r.try("same cost with gradient", c.sameCost)
	if _, ok := p.(framework.Resumer); ok {
		r.try("resume", c.resume)
	}
	if _, ok := p.(framework.RowSeparable); ok {
		c.checkRows(r)
	}
	if _, ok := p.(framework.Certifier); ok {
		r.try("stationarity", c.stationarity)
	}
	if l, ok := p.(framework.Reassigner); ok {
		r.try("reassignment", func() error { return c.reassignment(l) })
	}
	c.checkSweep(r)
	c.checkArrowhead(r)
	return r
}

// TestProblem reports every broken law to t.
func TestProblem(t TB, name string, p framework.Problem, o ProblemOptions) {
	t.Helper()
	CheckProblem(name, p, o).test(t)
}

// reassignment checks that moves pay, and that a point that is not moved stays as
// it is.
func (c *problemCheck) reassignment(p framework.Reassigner) error {
	before, err := c.p.Evaluate(nil, c.x)
	if err != nil {
		return err
	}
	y := c.x.Clone()
	moved, passes, err := p.Reassign(y)
	if err != nil {
		return err
	}
	if !(passes >= 0) {
		return fmt.Errorf("took %v passes", passes)
	}
	if !moved && !y.Equal(c.x) {
		return fmt.Errorf("changes the point and says it did not")
	}
	after, err := c.p.Evaluate(nil, y)
	if err != nil {
		return err
	}
	if moved && !(after < before) {
		return fmt.Errorf("moves from a cost of %v to %v", before, after)
	}
	return nil
}

type problemCheck struct {
	p      framework.Problem
	rng    *rand.Rand
	blocks []framework.Block
	x      framework.Point
}

func (c *problemCheck) blocksAreSound() error {
	c.blocks = c.p.Blocks()
	if len(c.blocks) == 0 {
		return fmt.Errorf("there are none")
	}
	seen := map[string]bool{}
	for k, b := range c.blocks {
		if b.Name == "" || seen[b.Name] {
			return fmt.Errorf("block %d has the name %q, which is empty or taken", k, b.Name)
		}
		seen[b.Name] = true
	}
	return nil
}

func (c *problemCheck) choosePoint(x framework.Point) error {
	if x != nil {
		c.x = x.Clone()
		return nil
	}
	c.x = framework.NewPoint(c.blocks)
	for k, b := range c.blocks {
		if !b.Rand(c.x[k], c.rng) {
			return fmt.Errorf("block %s cannot draw points: give one in the options", b.Name)
		}
	}
	return nil
}

// poisoned returns a point of NaN, to find what is never written.
func (c *problemCheck) poisoned() framework.Point {
	g := framework.NewPoint(c.blocks)
	for _, b := range g {
		for i := range b {
			b[i] = math.NaN()
		}
	}
	return g
}

// direction returns a random tangent vector of unit length at x in block k,
// scaled to the size of x there.
func (c *problemCheck) direction(k int) []float64 {
	v := make([]float64, len(c.x[k]))
	for i := range v {
		v[i] = c.rng.NormFloat64()
	}
	c.blocks[k].Project(v, c.x[k], v)
	size := floats.Norm(c.x[k], 2)
	if size == 0 {
		size = 1
	}
	if n := floats.Norm(v, 2); n > 0 {
		floats.Scale(size/n, v)
	}
	return v
}

func (c *problemCheck) gradientSlope(k int) error {
	grad := c.poisoned()
	cost, err := c.p.Evaluate(grad, c.x)
	if err != nil {
		return err
	}
	trial := c.x.Clone()
	slope, err := bestSlope(2, func() (Slope, error) {
		v := c.direction(k)
		first := floats.Dot(grad[k], v)
		return TaylorSlope(func(t float64) (float64, float64, error) {
			floats.ScaleTo(trial[k], t, v)
			if err := c.blocks[k].Retract(trial[k], c.x[k], trial[k]); err != nil {
				return 0, 0, err
			}
			now, err := c.p.Evaluate(nil, trial)
			return math.Abs(now - cost - t*first), math.Max(math.Abs(now), math.Abs(cost)), err
		})
	})
	if err != nil {
		return err
	}
	if !slope.AtLeast(2) {
		return fmt.Errorf("slope %v, want 2: the gradient is wrong, or the cost has a kink here", slope)
	}
	return nil
}

// directions is the number of random directions in which a slope is measured
// at most. An error of a derivative shows in all of them; a sound derivative
// can look wrong in one, where terms of the remainder nearly cancel.
const directions = 3

// bestSlope measures until a slope is as wanted.
func bestSlope(want float64, measure func() (Slope, error)) (best Slope, err error) {
	for try := range directions {
		slope, err := measure()
		if err != nil || slope.AtLeast(want) {
			return slope, err
		}
		if try == 0 || slope.Slope > best.Slope {
			best = slope
		}
	}
	return best, nil
}

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

func (c *problemCheck) sameCost() error {
	alone, err := c.p.Evaluate(nil, c.x)
	if err != nil {
		return err
	}
	with, err := c.p.Evaluate(c.poisoned(), c.x)
	if err != nil {
		return err
	}
	if alone != with {
		return fmt.Errorf("the cost is %v alone and %v with the gradient", alone, with)
	}
	return nil
}

// resume evaluates two points in turn, for a problem may start to keep its work
// after the first time, and resumes at each.
func (c *problemCheck) resume() error {
	elsewhere := c.x.Clone()
	for k, b := range c.blocks {
		v := c.direction(k)
		floats.Scale(0.1, v)
		if err := b.Retract(elsewhere[k], c.x[k], v); err != nil {
			return err
		}
	}
	for _, x := range []framework.Point{c.x, elsewhere, c.x, elsewhere} {
		want, got := c.poisoned(), c.poisoned()
		if _, err := c.p.Evaluate(want, x); err != nil {
			return err
		}
		if _, err := c.p.Evaluate(nil, x); err != nil {
			return err
		}
		if err := c.p.(framework.Resumer).Resume(got); err != nil {
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

func (c *problemCheck) stationarity() error {
	s := make([]float64, len(c.blocks))
	floats.AddConst(math.NaN(), s)
	if err := c.p.(framework.Certifier).Stationarity(s, c.x); err != nil {
		return err
	}
	for k, v := range s {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("block %s has %v, want a finite number of at least 0", c.blocks[k].Name, v)
		}
	}
	return nil
}
