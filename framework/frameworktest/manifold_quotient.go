package frameworktest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// Invariants is offered by a quotient whose RiemannianHessian is to be
// checked: polynomials of the coordinates, of degree 4 at most, that have one value
// on each class, such as entries of XX' where X is a basis of a subspace. They are
// measured only in tests; a type that embeds the manifold is a good place for them.
type Invariants interface {
	// Invariants returns the values of the polynomials at x, which may be any vector.
	Invariants(x []float64) []float64
}

// representatives is the number of representatives of a class that are drawn.
const representatives = 8

func (c *manifoldCheck) isQuotient() bool {
	_, ok := c.m.(quotient)
	return ok
}

// checkQuotient tries the laws of a quotient.
func (c *manifoldCheck) checkQuotient() {
	q, ok := c.m.(quotient)
	if !ok {
		return
	}
	if c.law("representatives", func(x []float64) error { return c.representatives(q, x) }) {
		c.law("representatives agree", func(x []float64) error { return c.agreement(q, x) })
	}
}

// same applies the map that a seed stands for.
func (c *manifoldCheck) same(q quotient, x []float64, seed uint64) []float64 {
	dst := c.poisoned()
	q.Same(dst, x, rand.New(rand.NewPCG(seed, 1)))
	return dst
}

// representatives tries that Same depends on its generator only, stays on the
// manifold and in the class, and does not only copy.
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

// agreement tries that horizontal vectors, their lengths and the retraction are the
// same for all representatives. The derivative of Same carries vectors along.
func (c *manifoldCheck) agreement(q quotient, x []float64) error {
	const tolerance = 1e-6
	u, v := c.unit(x), c.unit(x)
	seed := c.rng.Uint64()
	y := c.same(q, x, seed)
	carried := func(v []float64) ([]float64, error) {
		dst, step := c.zeros(), c.zeros()
		for _, term := range []struct{ at, weight float64 }{{-2, 1}, {-1, -8}, {1, 8}, {2, -1}} {
			if err := c.m.Retract(step, x, times(term.at*accelerationStep, v)); err != nil {
				return nil, err
			}
			floats.AddScaled(dst, term.weight/(12*accelerationStep), c.same(q, step, seed))
		}
		return dst, nil
	}
	cu, err := carried(u)
	if err != nil {
		return err
	}
	cv, err := carried(v)
	if err != nil {
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

// invariant is the cost a'P + (b'P)^2/2 of invariants P.
type invariant struct {
	Invariants
	a, b []float64
}

// newInvariant draws a cost.
func (c *manifoldCheck) newInvariant(i Invariants) (invariant, error) {
	x, v := c.gauss(), c.gauss()
	f := invariant{Invariants: i}
	d, half := f.along(x, v), f.along(x, times(0.5, v))
	if floats.Scale(2, half); len(d) == 0 || equal(half, d) != nil {
		return invariant{}, errors.New("the invariants are no polynomials of degree 4 or less")
	}
	f.a, f.b = make([]float64, len(d)), make([]float64, len(d))
	for k := range d {
		f.a[k], f.b[k] = c.rng.NormFloat64(), c.rng.NormFloat64()
	}
	return f, nil
}

func (f invariant) value(x []float64) float64 {
	p := f.Invariants.Invariants(x)
	s := floats.Dot(f.b, p)
	return floats.Dot(f.a, p) + s*s/2
}

// difference applies the central difference of fourth order with a step of 1, which
// is the derivative for polynomials of degree 4 or less.
func difference(of func(x []float64) []float64, x, v []float64) []float64 {
	var sum []float64
	for _, term := range []struct{ at, weight float64 }{{-2, 1}, {-1, -8}, {1, 8}, {2, -1}} {
		y := times(1, x)
		floats.AddScaled(y, term.at, v)
		p := of(y)
		if sum == nil {
			sum = make([]float64, len(p))
		}
		floats.AddScaled(sum, term.weight/12, p)
	}
	return sum
}

// along is the derivative of the invariants along v at x.
func (f invariant) along(x, v []float64) []float64 { return difference(f.Invariants.Invariants, x, v) }

// combined is the vector of the derivatives along the axes of a combination of
// invariants.
func (f invariant) combined(x, weights []float64) []float64 {
	g, axis := make([]float64, len(x)), make([]float64, len(x))
	for i := range g {
		axis[i] = 1
		g[i] = floats.Dot(weights, f.along(x, axis))
		axis[i] = 0
	}
	return g
}

// weights are the derivatives of the cost by the invariants.
func (f invariant) weights(x []float64) []float64 {
	weights := times(floats.Dot(f.b, f.Invariants.Invariants(x)), f.b)
	floats.Add(weights, f.a)
	return weights
}

func (f invariant) gradient(x []float64) []float64 { return f.combined(x, f.weights(x)) }

func (f invariant) hessian(x, v []float64) []float64 {
	weights := f.weights(x)
	h := difference(func(y []float64) []float64 { return f.combined(y, weights) }, x, v)
	floats.AddScaled(h, floats.Dot(f.b, f.along(x, v)), f.combined(x, f.b))
	return h
}

func (f invariant) magnitude(x []float64) float64 {
	p := norm(f.Invariants.Invariants(x))
	return norm(f.a)*p + norm(f.b)*norm(f.b)*p*p
}
