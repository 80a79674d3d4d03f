package frameworktest

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// checkHessian tests the laws of the Riemannian Hessian of a [framework.HessianConverter] on a quadratic cost: it is
// symmetric, and equals the second derivative. On a quotient the cost must be constant on each class; [CheckProblem]
// tests the laws on such a cost.
func (c *manifoldCheck) checkHessian() {
	h, ok := c.m.(framework.HessianConverter)
	if !ok {
		return
	}
	if c.isQuotient() {
		c.add("hessian", true, "not checked: see CheckProblem on a cost of classes")
		return
	}
	f := quadratic{d: c.gauss(), w: c.gauss(), b: c.gauss()}
	hessian := func(x, v []float64) []float64 {
		dst := c.zeros()
		h.RiemannianHessian(dst, x, f.gradient(x), f.apply(v), v)
		return dst
	}
	c.law("hessian symmetric", func(x []float64) error {
		u, v := c.tangent(x), c.tangent(x)
		hu, hv := hessian(x, u), hessian(x, v)
		return errors.Join(
			equal(c.project(x, hv), hv),
			equalNumbers(c.inner(x, u, hv), c.inner(x, hu, v), math.Sqrt(c.inner(x, hu, hu)*c.inner(x, v, v))))
	})
	c.law("hessian", func(x []float64) error { return c.secondDerivative(f, hessian, x) })
}

// secondDerivative compares the Hessian with the second derivative of the cost along the retraction, minus the
// derivative along the covariant acceleration of the curve. The acceleration follows from the metric alone.
func (c *manifoldCheck) secondDerivative(f quadratic, hessian func(x, v []float64) []float64, x []float64) error {
	const h = accelerationStep
	v, w := c.unit(x), c.gradient(x, f.gradient(x))
	slope := math.Sqrt(c.inner(x, w, w))
	if slope > 0 {
		floats.Scale(1/slope, w)
	}
	curvature, err := c.acceleration(c.m.Retract, x, v, w)
	if err != nil {
		return err
	}
	curvature *= slope
	second, scale := -30*f.value(x), f.magnitude(x)
	for _, term := range []struct{ at, weight float64 }{{-2, -1}, {-1, 16}, {1, 16}, {2, -1}} {
		y, err := c.retract(x, times(term.at*h, v))
		if err != nil {
			return err
		}
		second += term.weight * f.value(y)
	}
	second /= 12 * h * h
	got, want := c.inner(x, hessian(x, v), v), second-curvature
	if !(math.Abs(got-want) <= accelerationTolerance*(1+scale+slope+math.Abs(want))) {
		return fmt.Errorf("the second derivative along a unit vector is %g, from the cost and the metric %g", got, want)
	}
	return nil
}

// quadratic is the function x'(D + ww')x/2 + b'x.
type quadratic struct{ d, w, b []float64 }

func (f quadratic) value(x []float64) float64 {
	return floats.Dot(x, f.apply(x))/2 + floats.Dot(f.b, x)
}

func (f quadratic) gradient(x []float64) []float64 {
	g := f.apply(x)
	floats.Add(g, f.b)
	return g
}

// apply multiplies D + ww' by v.
func (f quadratic) apply(v []float64) []float64 {
	h := make([]float64, len(v))
	floats.MulTo(h, f.d, v)
	floats.AddScaled(h, floats.Dot(f.w, v), f.w)
	return h
}

// magnitude bounds the terms that value sums.
func (f quadratic) magnitude(x []float64) float64 {
	return norm(x) * (norm(f.b) + norm(x)*(floats.Norm(f.d, math.Inf(1))+floats.Dot(f.w, f.w)))
}
