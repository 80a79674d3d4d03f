package residuals

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// intrinsic computes Hessian products of a problem whose function has first derivatives. With the gradients g_i and
// the Hessians H_i of the loss at x, the product is the Riemannian gradient for the Euclidean gradient
//
//	sum_i w_i (J_i' H_i J_i v),
//
// plus the covariant derivative along v of the gradient of sum_i w_i g_i'r_i with fixed g_i, by a central difference.
// Kinks of the loss, even if hardly smoothed, only affect H_i and not the difference.
type intrinsic struct {
	p        *problem
	jacobian Jacobian
	aside    *differences // the Jacobian, if it is made of differences; otherwise nil
	step     float64      // of the difference, relative to the size of x
	frozen   []float64    // w_i g_i
	y, g     [2]framework.Point
}

func newIntrinsic(p *problem) *intrinsic {
	c := &intrinsic{p: p, jacobian: p.jacobian, step: differenceStep, frozen: make([]float64, p.n*p.m)}
	if d, ok := p.jacobian.(*differences); ok {
		c.aside = d.beside()
		c.jacobian, c.step = c.aside, secondStep
	}
	for i := range c.y {
		c.y[i], c.g[i] = framework.NewPoint(p.blocks), framework.NewPoint(p.blocks)
	}
	return c
}

// IntrinsicHessianProduct is described at framework.TwiceDifferentiable.
func (c *intrinsic) IntrinsicHessianProduct(dst, x, v framework.Point) error {
	p := c.p
	if err := p.differentiateAt(x); err != nil {
		return err
	}
	err := p.sum(dst, func(s, lo, hi int) error {
		g, err := p.scaledGradients(lo, hi)
		if err != nil {
			return err
		}
		copy(c.frozen[lo*p.m:hi*p.m], g)
		return p.addLossHessian(x, v, s, lo, hi)
	})
	if err != nil {
		return err
	}
	for k, b := range p.blocks {
		b.Gradient(dst[k], x[k], dst[k])
	}
	return c.addCovariantDerivative(dst, x, v)
}

// addCovariantDerivative adds the covariant derivative along v of the gradient with fixed g_i.
func (c *intrinsic) addCovariantDerivative(dst, x, v framework.Point) error {
	blocks := c.p.blocks
	var size, length float64
	for k, b := range blocks {
		if _, own := b.Manifold.(framework.Metric); !own {
			size = math.Hypot(size, floats.Norm(x[k], 2))
		}
		length = math.Hypot(length, b.Norm(x[k], v[k]))
	}
	if !(length > 0) {
		return nil
	}
	step := c.step * math.Max(1, size) / length
	for side := range c.g {
		if err := c.gradientAlong(side, x, v, step*float64(1-2*side)); err != nil {
			return err
		}
	}
	for k := range dst {
		floats.Sub(c.g[0][k], c.g[1][k])
		floats.AddScaled(dst[k], 1/(2*step), c.g[0][k])
	}
	return nil
}

// gradientAlong stores the gradient with fixed g_i at R(t v), transported back to x, in g.
func (c *intrinsic) gradientAlong(side int, x, v framework.Point, t float64) error {
	p, y, g := c.p, c.y[side], c.g[side]
	for k, b := range p.blocks {
		floats.ScaleTo(g[k], t, v[k])
		if err := b.Retract(y[k], x[k], g[k]); err != nil {
			return fmt.Errorf("residuals: difference of gradients: block %s: %w", b.Name, err)
		}
	}
	if c.aside != nil {
		if err := c.aside.prepare(p, y); err != nil {
			return err
		}
	}
	err := p.sum(g, func(s, lo, hi int) error {
		return c.jacobian.AddTransposedProduct(p.sums[s], y, c.frozen[lo*p.m:hi*p.m], lo, hi)
	})
	if err != nil {
		return err
	}
	for k, b := range p.blocks {
		b.Gradient(g[k], y[k], g[k])
		if _, own := b.Manifold.(framework.Metric); own {
			b.Transport(g[k], y[k], x[k], g[k])
		} else { // the connection that the surrounding space induces
			b.Project(g[k], x[k], g[k])
		}
	}
	return nil
}
