package frameworktest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// checkMajorizer tests the laws of the weights of a [framework.Majorizer] and of the quadratic bound that they
// define.
func (c *lossCheck) checkMajorizer() {
	m, ok := c.loss.(framework.Majorizer)
	if !ok {
		return
	}
	c.weightsLaw("weights", func(r []float64) ([]float64, error) { return c.weights(m, r) })
	c.try("majorizer", func() error { return c.majorizer(m) })
}

// weightsLaw tests that weights are finite and at least 0, also at zero residuals.
func (c *lossCheck) weightsLaw(name string, weights func(r []float64) ([]float64, error)) {
	c.try(name, func() error {
		for _, r := range [][]float64{c.rows, make([]float64, len(c.rows))} {
			w, err := weights(r)
			if err = errors.Join(err, allFinite(w)); err != nil {
				return err
			}
			if i := floats.MinIdx(w); w[i] < 0 {
				return fmt.Errorf("weight %d is %g", i, w[i])
			}
		}
		return nil
	})
}

// majorizer compares the loss with its bound near and far from the point of contact. The near points detect weights
// with a small error.
func (c *lossCheck) majorizer(m framework.Majorizer) error {
	w, err := c.weights(m, c.rows)
	if err != nil {
		return err
	}
	for _, spread := range []float64{0, 1e-4, 1e-3, 0.1, 1, 3} {
		r := slices.Clone(c.rows)
		for k := range r {
			r[k] *= 1 + spread*float64(2*c.rng.IntN(2)-1)
		}
		if spread == 0 {
			r = c.ordinary()
		}
		values, _, err := c.evaluate(c.loss, r)
		if err != nil {
			return err
		}
		stride := len(w) / c.o.Rows // 1 for a radial loss, else Dim
		for i, v := range values {
			bound, size := c.values[i], math.Abs(c.values[i])+math.Abs(v)
			for k, x := range c.row(r, i) {
				x0, weight := c.row(c.rows, i)[k], w[i*stride+k*(stride/c.o.Dim)]
				bound += weight / 2 * (x - x0) * (x + x0)
				size += weight / 2 * (x*x + x0*x0)
			}
			if !(v <= bound+lossTolerance*size) {
				return fmt.Errorf("row %d: %g above its bound %g", i, v, bound)
			}
		}
	}
	return nil
}

// weights returns one weight per row of a radial loss, otherwise one per entry.
func (c *lossCheck) weights(m framework.Majorizer, r []float64) ([]float64, error) {
	w := poisoned(len(r))
	if _, ok := c.loss.(framework.Radial); ok {
		w = w[:len(r)/c.o.Dim]
	}
	err := m.Weights(w, slices.Clone(r), c.o.Dim)
	return w, errors.Join(err, written("weight", w))
}
