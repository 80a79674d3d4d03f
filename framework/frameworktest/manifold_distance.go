package frameworktest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// apart returns the distance of two points. It uses the manifold's own distance on a quotient that has one, otherwise
// that of the surrounding space.
func (c *manifoldCheck) apart(x, y []float64) (float64, error) {
	if c.isQuotient() {
		if d, ok := c.m.(framework.Distance); ok {
			return d.Distance(x, y)
		}
	}
	return floats.Distance(x, y, 2), nil
}

// checkDistance tests the laws of a [framework.Distance] and of a [framework.Logarithm].
func (c *manifoldCheck) checkDistance() {
	if d, ok := c.m.(framework.Distance); ok {
		c.law("distance", func(x []float64) error { return c.distance(d, x) })
		c.law("distance of steps", func(x []float64) error { return c.distanceOfSteps(d, x) })
	}
	if l, ok := c.m.(framework.Logarithm); ok {
		c.law("logarithm", func(x []float64) error { return c.logarithm(l, x) })
	}
}

// distance tests that a distance is symmetric, zero from a point to itself, obeys the triangle inequality, and fails
// for NaN.
func (c *manifoldCheck) distance(d framework.Distance, x []float64) error {
	_, y, err := c.stepAndEnd(x)
	_, z, err2 := c.stepAndEnd(x)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	xx, e1 := d.Distance(x, slices.Clone(x))
	xy, e2 := d.Distance(x, y)
	yx, e3 := d.Distance(y, x)
	xz, e4 := d.Distance(x, z)
	yz, e5 := d.Distance(y, z)
	if err := errors.Join(e1, e2, e3, e4, e5); err != nil {
		return err
	}
	if !(xx <= 1e-7) {
		return fmt.Errorf("a point is %g from itself", xx)
	}
	if !(yz <= xy+xz+1e-7) {
		return fmt.Errorf("two points are %g apart, by way of a third %g", yz, xy+xz)
	}
	if len(x) > 0 {
		bad := slices.Clone(x)
		bad[c.rng.IntN(len(bad))] = math.NaN()
		if _, err := d.Distance(x, bad); err == nil {
			return errors.New("takes NaN without an error")
		}
	}
	return equalNumbers(xy, yx, xy)
}

// distanceOfSteps compares the lengths of short steps with the distances between their ends: exactly along geodesics,
// otherwise in the limit of short steps.
func (c *manifoldCheck) distanceOfSteps(d framework.Distance, x []float64) error {
	v := c.unit(x)
	move, size, tolerance := mover(c.m.Retract), 0x1p-12, 1e-2
	if e, ok := c.m.(framework.Exper); ok {
		move, size, tolerance = e.Exp, 0.25, 1e-8
	}
	if c.inner(x, v, v) == 0 {
		return nil
	}
	y := c.zeros()
	if err := move(y, x, times(size, v)); err != nil {
		return err
	}
	got, err := d.Distance(x, y)
	if err == nil && !(math.Abs(got-size) <= tolerance*size) {
		return fmt.Errorf("a step of length %g ends %g away", size, got)
	}
	return err
}

// logarithm tests that Log inverts Exp, or Retract to first order if there is no Exp. It also tests that the length
// of Log is the distance, and that Log fails for NaN.
func (c *manifoldCheck) logarithm(l framework.Logarithm, x []float64) error {
	v, y, w := c.unit(x), c.zeros(), c.zeros()
	move, size, tolerance := mover(c.m.Retract), 0x1p-12, 1e-2
	if e, ok := c.m.(framework.Exper); ok {
		move, size, tolerance = e.Exp, 0.25, 1e-8
	}
	floats.Scale(size, v)
	if err := errors.Join(move(y, x, v), l.Log(w, x, y)); err != nil {
		return err
	}
	if off := floats.Distance(v, w, 2); !(off <= tolerance*(norm(v)+size)) {
		return fmt.Errorf("the logarithm of the end of a step of length %g is off by %.3g", size, off)
	}
	if err := equal(c.project(x, w), w); err != nil {
		return fmt.Errorf("not tangent: %w", err)
	}
	if d, ok := c.m.(framework.Distance); ok {
		length, err := d.Distance(x, y)
		if err = errors.Join(err, equalNumbers(math.Sqrt(c.inner(x, w, w)), length, length)); err != nil {
			return fmt.Errorf("length and distance: %w", err)
		}
	}
	if err := errors.Join(l.Log(w, x, slices.Clone(x)), equal(w, c.zeros())); err != nil {
		return fmt.Errorf("of the point itself: %w", err)
	}
	if len(x) > 0 {
		y[c.rng.IntN(len(y))] = math.NaN()
		if l.Log(w, x, y) == nil {
			return errors.New("takes NaN without an error")
		}
	}
	return nil
}
