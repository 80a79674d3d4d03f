package frameworktest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// representatives is the number of representatives of a class that are drawn.
const representatives = 8

func (c *manifoldCheck) isQuotient() bool {
	_, ok := c.m.(quotient)
	return ok
}

// checkQuotient tests the laws of a quotient.
func (c *manifoldCheck) checkQuotient() {
	q, ok := c.m.(quotient)
	if !ok {
		return
	}
	if c.law("representatives", func(x []float64) error { return c.representatives(q, x) }) {
		c.law("representatives agree", func(x []float64) error { return c.agreement(q, x) })
	}
}

// same returns a random representative of the class of x: what Same draws with the given seed.
func (c *manifoldCheck) same(q quotient, x []float64, seed uint64) []float64 {
	dst := poisoned(c.m.Size())
	q.Same(dst, x, rand.New(rand.NewPCG(seed, 1)))
	return dst
}

// representatives tests that Same depends on its generator only, stays on the manifold and in the class, and does not
// always return its input.
func (c *manifoldCheck) representatives(q quotient, x []float64) error {
	moved := false
	for range representatives {
		seed := c.rng.Uint64()
		y := c.same(q, x, seed)
		if !sameBits(y, c.same(q, x, seed)) {
			return errors.New("equal generators give different representatives")
		}
		if err := c.onManifold(y); err != nil {
			return err
		}
		if d, ok := c.m.(framework.Distance); ok {
			if off, err := d.Distance(x, y); err != nil || !(off <= 1e-7) {
				return errors.Join(err, fmt.Errorf("a representative is %g from the point", off))
			}
		}
		moved = moved || floats.Distance(x, y, 2) > 1e-6
	}
	if !moved {
		return errors.New("there is no representative of a point but itself: then the manifold is no quotient")
	}
	return nil
}

// agreement tests that horizontal vectors, their lengths and the retraction are the same for all representatives. The
// derivative of Same maps vectors from one representative to another.
func (c *manifoldCheck) agreement(q quotient, x []float64) error {
	const tolerance = 1e-6
	u, v := c.unit(x), c.unit(x)
	seed := c.rng.Uint64()
	y := c.same(q, x, seed)
	carried := func(v []float64) ([]float64, error) {
		dst := c.zeros()
		return dst, derivative(dst, func(y []float64, t float64) error {
			step, err := c.retract(x, times(t, v))
			if err == nil {
				copy(y, c.same(q, step, seed))
			}
			return err
		})
	}
	cu, err := carried(u)
	cv, err2 := carried(v)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if off := floats.Distance(c.project(y, cv), cv, 2); !(off <= tolerance*(1+norm(cv))) {
		return fmt.Errorf("a horizontal vector has a part of %.3g across at another representative", off)
	}
	if here, there := c.inner(x, u, v), c.inner(y, cu, cv); !(math.Abs(here-there) <= tolerance) {
		return fmt.Errorf("an inner product is %g, at another representative %g", here, there)
	}
	d, ok := c.m.(framework.Distance)
	if !ok {
		return nil
	}
	end, err := c.retract(x, times(0.25, v))
	if err != nil {
		return err
	}
	other, err := c.retract(y, times(0.25, cv))
	if err != nil {
		return err
	}
	off, err := d.Distance(end, other)
	if err == nil && !(off <= tolerance) {
		return fmt.Errorf("equal steps from two representatives end %.3g apart", off)
	}
	return err
}
