package frameworktest_test

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
)

// bare is a manifold without optional interfaces; funcs replace its methods.
type bare struct {
	framework.Manifold
	project func(dst, x, v []float64)
	retract func(dst, x, v []float64) error
}

func (m bare) Project(dst, x, v []float64) {
	if m.project != nil {
		m.project(dst, x, v)
		return
	}
	m.Manifold.Project(dst, x, v)
}

func (m bare) Retract(dst, x, v []float64) error {
	if m.retract != nil {
		return m.retract(dst, x, v)
	}
	return m.Manifold.Retract(dst, x, v)
}

// constrained is bare with a constraint.
type constrained struct {
	bare
	framework.Constrained
}

// The types below spoil one method of a good manifold each.
type (
	sized struct {
		framework.Manifold
		dim int
	}
	claimed struct {
		bare
		order int
	}
	rander struct {
		manifolds.Sphere
		rand func(dst []float64, rng *rand.Rand)
	}
	transporter struct {
		bare
		transport func(dst, x, y, v []float64)
	}
	exper struct {
		bare
		exp func(dst, x, v []float64) error
	}
	hessian struct {
		bare
		hess func(dst, x, g, h, v []float64)
	}
	restorer struct {
		manifolds.Sphere
		restore func(x []float64) error
	}
	metric struct {
		orthant
		inner    func(x, u, v []float64) float64
		gradient func(dst, x, g []float64)
	}
)

func (m sized) Dim() int { return m.dim }

func (m claimed) RetractionOrder() int { return m.order }

func (m rander) Rand(dst []float64, rng *rand.Rand) { m.rand(dst, rng) }

func (m transporter) Transport(dst, x, y, v []float64) { m.transport(dst, x, y, v) }

func (m exper) Exp(dst, x, v []float64) error { return m.exp(dst, x, v) }

func (m hessian) RiemannianHessian(dst, x, g, h, v []float64) {
	m.hess(dst, x, g, h, v)
}

func (m restorer) Restore(x []float64) error { return m.restore(x) }

func (m metric) Inner(x, u, v []float64) float64 { return m.inner(x, u, v) }

func (m metric) Gradient(dst, x, g []float64) { m.gradient(dst, x, g) }

// orthant is the set of vectors with positive coordinates, with the metric
// sum_i u_i v_i / x_i^2 in which it is flat: ln maps it on R^n.
type orthant int

var errRange = errors.New("out of range")

func (m orthant) Size() int { return int(m) }

func (m orthant) Dim() int { return int(m) }

func (orthant) Project(dst, x, v []float64) { copy(dst, v) }

func (m orthant) Exp(dst, x, v []float64) error { return m.Retract(dst, x, v) }

func (orthant) RetractionOrder() int { return 2 }

func (orthant) Transport(dst, x, y, v []float64) {
	each(dst, func(i int) float64 { return v[i] * y[i] / x[i] })
}

func (orthant) Gradient(dst, x, g []float64) {
	each(dst, func(i int) float64 { return x[i] * x[i] * g[i] })
}

func (orthant) Retract(dst, x, v []float64) error {
	each(dst, func(i int) float64 { return x[i] * math.Exp(v[i]/x[i]) })
	for _, y := range dst {
		if !(y > 0 && y <= math.MaxFloat64) {
			return errRange
		}
	}
	return nil
}

func (orthant) Inner(x, u, v []float64) float64 {
	var sum float64
	for i := range x {
		sum += u[i] * v[i] / (x[i] * x[i])
	}
	return sum
}

func (orthant) RiemannianHessian(dst, x, g, h, v []float64) {
	each(dst, func(i int) float64 { return x[i]*x[i]*h[i] + x[i]*g[i]*v[i] })
}

func each(dst []float64, f func(i int) float64) {
	for i := range dst {
		dst[i] = f(i)
	}
}
