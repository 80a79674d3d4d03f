package frameworktest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/scqm/scqm/framework"
)

// randomPoints is the number of random points, if the manifold has random points.
const randomPoints = 3

// checkSizes tests the law of Size and Dim.
func (c *manifoldCheck) checkSizes() {
	c.try("sizes", func() error {
		if size, dim := c.m.Size(), c.m.Dim(); dim < 0 || dim > size {
			return fmt.Errorf("Dim is %d, Size %d", dim, size)
		}
		return nil
	})
}

func (c *manifoldCheck) checkPoints() {
	c.try("points", func() error {
		if err := c.drawPoints(); err != nil {
			return err
		}
		if len(c.points) == 0 {
			return errors.New("there are none: give one, or implement Rander")
		}
		for i, x := range c.points {
			if len(x) != c.m.Size() {
				return fmt.Errorf("point %d has length %d, want %d", i, len(x), c.m.Size())
			}
			if err := c.onManifold(x); err != nil {
				return fmt.Errorf("point %d: %w", i, err)
			}
		}
		return nil
	})
}

// drawPoints adds random points.
func (c *manifoldCheck) drawPoints() error {
	r, ok := c.m.(framework.Rander)
	if !ok {
		return nil
	}
	c.points = slices.Clone(c.points)
	for range randomPoints {
		s1, s2 := c.rng.Uint64(), c.rng.Uint64()
		x, again := poisoned(c.m.Size()), c.zeros()
		r.Rand(x, rand.New(rand.NewPCG(s1, s2)))
		r.Rand(again, rand.New(rand.NewPCG(s1, s2)))
		if !sameBits(x, again) {
			return errors.New("equal generators give different random points")
		}
		c.points = append(c.points, x)
	}
	return nil
}
