package frameworktest

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

const (
	// accelerationStep is the step of the fourth-order differences that estimate covariant accelerations, for vectors
	// of length 1. With it truncation and rounding errors are two digits or more below accelerationTolerance.
	accelerationStep = 0x1p-8
	// accelerationTolerance is the largest acceleration that counts as zero.
	accelerationTolerance = 1e-6
)

// mover is a retraction or an exponential map.
type mover func(dst, x, v []float64) error

// unit returns a random tangent vector at x of length 1 in the metric, or zero if there is no other.
func (c *manifoldCheck) unit(x []float64) []float64 {
	v := c.tangent(x)
	if length := math.Sqrt(c.inner(x, v, v)); length > 0 {
		floats.Scale(1/length, v)
	}
	return v
}

// derivative writes the fourth-order central difference at t = 0 of a curve y(t) into dst.
func derivative(dst []float64, curve func(y []float64, t float64) error) error {
	clear(dst)
	y := make([]float64, len(dst))
	for _, term := range []struct{ at, weight float64 }{{-2, 1}, {-1, -8}, {1, 8}, {2, -1}} {
		if err := curve(y, term.at*accelerationStep); err != nil {
			return err
		}
		floats.AddScaled(dst, term.weight/(12*accelerationStep), y)
	}
	return nil
}

// velocity writes into dst the tangent vector at y = move(x, a) that is the
// derivative of move(x, a + tv) at t = 0.
func (c *manifoldCheck) velocity(dst []float64, move mover, x, a, y, v []float64) error {
	err := derivative(dst, func(end []float64, t float64) error {
		return move(end, x, floats.AddScaledTo(c.zeros(), a, t, v))
	})
	if err == nil {
		c.m.Project(dst, y, dst)
	}
	return err
}

// acceleration is the inner product with w of the covariant acceleration at t = 0 of the curve move(x, tv), which is
// zero for geodesics. In the chart a -> move(x, a) with metric g(a), Koszul's formula gives
//
//	d/dt g(tv)(v, w) - 1/2 d/dt g(tw)(v, v).
func (c *manifoldCheck) acceleration(move mover, x, v, w []float64) (float64, error) {
	metric := func(along, second []float64) (float64, error) {
		slope := make([]float64, 1)
		err := derivative(slope, func(product []float64, t float64) error {
			a, y, vt, wt := times(t, along), c.zeros(), c.zeros(), c.zeros()
			if err := move(y, x, a); err != nil {
				return err
			}
			if err := errors.Join(c.velocity(vt, move, x, a, y, v), c.velocity(wt, move, x, a, y, second)); err != nil {
				return err
			}
			product[0] = c.inner(y, vt, wt)
			return nil
		})
		return slope[0], err
	}
	first, err := metric(v, w)
	if err != nil {
		return 0, err
	}
	second, err := metric(w, v)
	return first - second/2, err
}

// unaccelerated returns an error if curves of move start with a covariant acceleration.
func (c *manifoldCheck) unaccelerated(move mover, x []float64) error {
	for range 3 {
		v, w := c.unit(x), c.unit(x)
		a, err := c.acceleration(move, x, v, w)
		if err != nil {
			return err
		}
		if !(math.Abs(a) <= accelerationTolerance) {
			return fmt.Errorf("the component of the covariant acceleration along a unit vector is %.3g, want 0", a)
		}
	}
	return nil
}

// flow tests whether a geodesic that is restarted from one of its points continues unchanged.
func (c *manifoldCheck) flow(exp mover, x []float64) error {
	v := c.unit(x)
	floats.Scale(0.25, v)
	half, later := times(0.5, v), c.zeros()
	middle, end, again := c.zeros(), c.zeros(), c.zeros()
	if err := exp(middle, x, half); err != nil {
		return err
	}
	if err := c.velocity(later, exp, x, half, middle, v); err != nil {
		return err
	}
	floats.Scale(0.5, later)
	if err := exp(end, x, v); err != nil {
		return err
	}
	if err := exp(again, middle, later); err != nil {
		return err
	}
	off, err := c.apart(end, again)
	if err == nil && !(off <= 1e-7*(1+norm(end))) {
		return fmt.Errorf("half of a geodesic and then the other half end %.3g away from its end", off)
	}
	return err
}
