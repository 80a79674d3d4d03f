package frameworktest

import (
	"errors"
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
)

// checkPreconditioner tests the laws of framework.Preconditioner. H is a linear map, symmetric and positive definite
// on the tangent space in the metric. It depends only on the point at which it was built, and does not change its
// arguments.
func (c *problemCheck) checkPreconditioner(r *Report) {
	p, ok := c.p.(framework.Preconditioner)
	if !ok {
		return
	}
	r.try("preconditioner built", func() error { return c.buildPreconditioner(p) })
	if !r.OK() {
		return
	}
	r.try("preconditioner linear", func() error { return c.preconditionerLinear(p) })
	r.try("preconditioner symmetric", func() error {
		return c.selfAdjoint(c.blocks, 1e-9, func(dst, _, v framework.Point) error {
			dst.CopyFrom(c.precondition(p, v))
			return nil
		})
	})
	r.try("preconditioner positive definite", func() error { return c.preconditionerPositive(p) })
}

// precondition returns P H v, with P the projection onto the tangent space.
func (c *problemCheck) precondition(p framework.Preconditioner, v framework.Point) framework.Point {
	dst := c.poisoned()
	p.Precondition(dst, v)
	framework.Product(c.blocks).Project(dst, c.x, dst)
	return dst
}

// buildPreconditioner builds at x, elsewhere, and at x again.
func (c *problemCheck) buildPreconditioner(p framework.Preconditioner) error {
	x, v := c.x.Clone(), c.directions()
	before := v.Clone()
	passes, err := p.BuildPreconditioner(x)
	if err != nil {
		return err
	}
	first := c.poisoned()
	p.Precondition(first, v)
	inPlace := v.Clone()
	p.Precondition(inPlace, inPlace)
	elsewhere, err := c.elsewhere()
	if err != nil {
		return err
	}
	_, err = p.BuildPreconditioner(elsewhere)
	_, err2 := p.BuildPreconditioner(x)
	again := c.poisoned()
	p.Precondition(again, v)
	switch {
	case err != nil || err2 != nil:
		return errors.Join(err, err2)
	case !(passes >= 0) || math.IsInf(passes, 0):
		return fmt.Errorf("takes %v passes", passes)
	case !x.Equal(c.x) || !v.Equal(before):
		return errors.New("changes the point or the vector")
	case !first.Finite():
		return errors.New("some of the product is not written or not finite")
	case !first.Equal(inPlace):
		return errors.New("the product is another where dst is v")
	case !first.Equal(again):
		return errors.New("the product is another after it was built elsewhere and at the point again")
	}
	return nil
}

// elsewhere returns a point at a distance of a tenth of the size of x.
func (c *problemCheck) elsewhere() (framework.Point, error) {
	v := c.directions()
	v.Scale(0.1)
	y := c.x.Clone()
	return y, framework.Product(c.blocks).Retract(y, c.x, v)
}

func (c *problemCheck) preconditionerLinear(p framework.Preconditioner) error {
	u, v := c.directions(), c.directions()
	sum := u.Clone()
	sum.AddScaled(-3, v)
	got, want := c.precondition(p, sum), c.precondition(p, u)
	hv := c.precondition(p, v)
	size := want.Norm() + 3*hv.Norm()
	want.AddScaled(-3, hv)
	got.AddScaled(-1, want)
	if off := got.Norm(); !(off <= 1e-9*size) {
		return fmt.Errorf("H(u - 3v) is off Hu - 3Hv by %g of %g", off, size)
	}
	return nil
}

// preconditionerPositive checks <v, H v> > 0 for directions v of all blocks at once and of each block alone.
func (c *problemCheck) preconditionerPositive(p framework.Preconditioner) error {
	m := framework.Product(c.blocks)
	try := func(v framework.Point, where string) error {
		if got := m.Inner(c.x, v, c.precondition(p, v)); !(got > 0) {
			return fmt.Errorf("<v, H v> is %g along a direction of %s", got, where)
		}
		return nil
	}
	for range directions {
		if err := try(c.directions(), "all blocks"); err != nil {
			return err
		}
		for k, b := range c.blocks {
			if b.Dim() == 0 {
				continue
			}
			v := framework.NewPoint(c.blocks)
			v[k] = c.direction(k)
			if err := try(v, "block "+b.Name); err != nil {
				return err
			}
		}
	}
	return nil
}
