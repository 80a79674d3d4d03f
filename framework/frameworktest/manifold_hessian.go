package frameworktest

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// checkHessian tries the laws of the Riemannian Hessian of a [framework.HessianConverter]
// on a quadratic cost: it is symmetric, and the derivative of the gradient.
func (c *manifoldCheck) checkHessian() {
	h, ok := c.m.(framework.HessianConverter)
	if !ok {
		return
	}
	f := quadratic{d: c.gauss(), w: c.gauss(), b: c.gauss()}
	hessian := func(x, v []float64) []float64 {
		dst := c.zeros()
		h.RiemannianHessian(dst, x, f.gradient(x), f.hessian(v), v)
		return dst
	}
	c.law("hessian symmetric", func(x []float64) error {
		u, v := c.tangent(x), c.tangent(x)
		hu, hv := hessian(x, u), hessian(x, v)
		return errors.Join(
			equal(c.project(x, hv), hv),
			equalNumbers(c.inner(x, u, hv), c.inner(x, hu, v), math.Sqrt(c.inner(x, hu, hu)*c.inner(x, v, v))))
	})
	// Differences between t and -t have errors of two orders more than needed.
	if !c.hasMetric() {
		c.slopeLaw("hessian", 2, func(x, v []float64, t float64) (float64, float64, error) {
			y, err := c.retract(x, times(t, v))
			z, err2 := c.retract(x, times(-t, v))
			d, g := c.gradient(y, f.gradient(y)), c.gradient(z, f.gradient(z))
			magnitude := norm(f.gradient(y)) + norm(f.gradient(z))
			floats.Sub(d, g)
			d = c.project(x, d)
			floats.AddScaled(d, -2*t, hessian(x, v))
			return norm(d), magnitude, errors.Join(err, err2)
		})
		return
	}
	if e, ok := c.m.(framework.Exper); ok {
		c.slopeLaw("hessian", 3, func(x, v []float64, t float64) (float64, float64, error) {
			y, z := c.zeros(), c.zeros()
			err := errors.Join(e.Exp(y, x, times(t, v)), e.Exp(z, x, times(-t, v)))
			d := f.value(y) - 2*f.value(x) + f.value(z) - t*t*c.inner(x, hessian(x, v), v)
			return math.Abs(d), f.magnitude(x), err
		})
	}
}

// quadratic is the function x'(D + ww')x/2 + b'x.
type quadratic struct{ d, w, b []float64 }

func (f quadratic) value(x []float64) float64 {
	return floats.Dot(x, f.hessian(x))/2 + floats.Dot(f.b, x)
}

func (f quadratic) gradient(x []float64) []float64 {
	g := f.hessian(x)
	floats.Add(g, f.b)
	return g
}

// hessian applies the second derivative to v.
func (f quadratic) hessian(v []float64) []float64 {
	h := make([]float64, len(v))
	floats.MulTo(h, f.d, v)
	floats.AddScaled(h, floats.Dot(f.w, v), f.w)
	return h
}

// magnitude bounds the numbers that value adds up.
func (f quadratic) magnitude(x []float64) float64 {
	return norm(x) * (norm(f.b) + norm(x)*(floats.Norm(f.d, math.Inf(1))+floats.Dot(f.w, f.w)))
}
