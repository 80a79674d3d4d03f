package frameworktest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// manifoldCheck is a manifold under test.
type manifoldCheck struct {
	*Report
	m      framework.Manifold
	rng    *rand.Rand
	points [][]float64
}

// law checks a law at every point and reports whether it holds.
func (c *manifoldCheck) law(name string, trial func(x []float64) error) bool {
	c.try(name, func() error {
		for i, x := range c.points {
			if err := trial(slices.Clone(x)); err != nil {
				return fmt.Errorf("point %d: %w", i, err)
			}
		}
		return nil
	})
	return c.Verdicts[len(c.Verdicts)-1].OK
}

// slopeLaw checks at every point that a remainder along a random tangent vector v vanishes with order want or higher.
func (c *manifoldCheck) slopeLaw(name string, want float64, remainder func(x, v []float64, t float64) (e, magnitude float64, err error)) {
	worst := Slope{Exact: true}
	holds := c.law(name, func(x []float64) error {
		v, err := c.step(x)
		if err != nil {
			return err
		}
		floats.Scale(0.25, v) // long steps would hide the order of the remainder
		slope, err := TaylorSlope(func(t float64) (float64, float64, error) { return remainder(x, v, t) })
		if err != nil {
			return err
		}
		if !slope.AtLeast(want) {
			return fmt.Errorf("slope %v, want %g", slope, want)
		}
		if worst.Exact || !slope.Exact && slope.Slope < worst.Slope {
			worst = slope
		}
		return nil
	})
	if holds {
		c.Verdicts[len(c.Verdicts)-1].Detail = fmt.Sprintf("slope %v", worst)
	}
}

// order is the order that the retraction claims.
func (c *manifoldCheck) order() int {
	if o, ok := c.m.(retractionOrder); ok {
		return max(o.RetractionOrder(), 1)
	}
	return 1
}

func (c *manifoldCheck) hasMetric() bool {
	_, ok := c.m.(framework.Metric)
	return ok
}

func (c *manifoldCheck) zeros() []float64 { return make([]float64, c.m.Size()) }

func (c *manifoldCheck) gauss() []float64 {
	v := c.zeros()
	for i := range v {
		v[i] = c.rng.NormFloat64()
	}
	return v
}

// tangent returns a random tangent vector at x of length 1, or zero if there is no other.
func (c *manifoldCheck) tangent(x []float64) []float64 {
	v := c.project(x, c.gauss())
	if length := norm(v); c.m.Dim() > 0 && length > 0 {
		floats.Scale(1/length, v)
	} else {
		clear(v)
	}
	return v
}

// step returns a random tangent vector for which Retract and Exp succeed, of length 1 if they allow it.
func (c *manifoldCheck) step(x []float64) ([]float64, error) {
	v := c.tangent(x)
	var err error
	for range 30 {
		_, err = c.retract(x, v)
		if e, ok := c.m.(framework.Exper); ok && err == nil {
			err = e.Exp(c.zeros(), x, v)
		}
		if err == nil {
			return v, nil
		}
		floats.Scale(0.5, v)
	}
	return nil, fmt.Errorf("even a step of length %.2g fails: %w", 2*norm(v), err)
}

// stepAndEnd returns a step from x and the point that it leads to.
func (c *manifoldCheck) stepAndEnd(x []float64) (v, y []float64, err error) {
	if v, err = c.step(x); err != nil {
		return nil, nil, err
	}
	y, err = c.retract(x, v)
	return v, y, err
}

func (c *manifoldCheck) project(x, v []float64) []float64 {
	dst := c.zeros()
	c.m.Project(dst, slices.Clone(x), slices.Clone(v))
	return dst
}

func (c *manifoldCheck) retract(x, v []float64) ([]float64, error) {
	dst := c.zeros()
	return dst, c.m.Retract(dst, slices.Clone(x), slices.Clone(v))
}

// gradient returns the Riemannian gradient at x for the Euclidean gradient g.
func (c *manifoldCheck) gradient(x, g []float64) []float64 {
	dst := c.zeros()
	framework.Block{Manifold: c.m}.Gradient(dst, x, g)
	return dst
}

// inner is the inner product of tangent vectors at x.
func (c *manifoldCheck) inner(x, u, v []float64) float64 {
	return framework.Block{Manifold: c.m}.Inner(x, u, v)
}

// onManifold returns an error if x is not finite or violates the constraint.
func (c *manifoldCheck) onManifold(x []float64) error {
	if err := allFinite(x); err != nil {
		return err
	}
	if m, ok := c.m.(framework.Constrained); ok {
		if off := m.Violation(x); !(off <= lawTolerance*(1+norm(x))) {
			return fmt.Errorf("the constraint is violated by %g", off)
		}
	}
	return nil
}

// linear returns an error if a map is not linear on the span of u and v.
func (c *manifoldCheck) linear(apply func(v []float64) []float64, u, v []float64) error {
	sum := times(-1.5, u)
	floats.Add(sum, v)
	want := times(-1.5, apply(u))
	floats.Add(want, apply(v))
	return equal(apply(sum), want)
}
