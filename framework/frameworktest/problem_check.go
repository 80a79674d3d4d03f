package frameworktest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// directions is the largest number of random directions in which a slope is measured. An error of a derivative shows
// in all of them. A correct derivative can look wrong in one direction, if terms of the remainder nearly cancel
// there.
const directions = 6

// problemCheck is a problem under test, at a point where its cost is smooth.
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
	if err := framework.Product(c.blocks).Rand(c.x, c.rng); err != nil {
		return fmt.Errorf("%w: give a point in the options", err)
	}
	return nil
}

// poisoned returns a point of NaN, to detect entries that are never written.
func (c *problemCheck) poisoned() framework.Point {
	g := framework.NewPoint(c.blocks)
	for _, b := range g {
		fill(b, math.NaN())
	}
	return g
}

// direction returns a random tangent vector at x in block k. Its size is that of x; if the block has its own metric,
// every row has length 1.
func (c *problemCheck) direction(k int) []float64 {
	v := make([]float64, len(c.x[k]))
	for i := range v {
		v[i] = c.coordinate()
	}
	c.blocks[k].Project(v, c.x[k], v)
	if _, ok := c.blocks[k].Manifold.(framework.Metric); ok {
		c.normalizeRows(k, v)
		return v
	}
	size := floats.Norm(c.x[k], 2)
	if size == 0 {
		size = 1
	}
	if n := floats.Norm(v, 2); n > 0 {
		floats.Scale(size/n, v)
	}
	return v
}

// normalizeRows scales every row of a tangent vector of block k to length 1.
func (c *problemCheck) normalizeRows(k int, v []float64) {
	b := c.blocks[k]
	row := framework.Block{Manifold: b.Manifold}
	for i := range b.Rows() {
		u := b.Row(v, i)
		if n := row.Norm(b.Row(c.x[k], i), u); n > 0 {
			floats.Scale(1/n, u)
		}
	}
}

// coordinate returns a random number of magnitude 1/2 to 3/2 with a random sign. In a direction with an entry near
// zero, an error in that entry of a derivative would not be detected.
func (c *problemCheck) coordinate() float64 {
	return math.Copysign(0.5+c.rng.Float64(), c.rng.Float64()-0.5)
}

// bestSlope measures slopes until one is as large as required.
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
