package frameworktest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/framework/rowloss"
)

// checkMinorizer tries the laws of the weights of a [rowloss.Minorizer].
func (c *lossCheck) checkMinorizer() {
	m, ok := c.loss.(rowloss.Minorizer)
	if !ok {
		return
	}
	c.weightsLaw("lower weights", func(r []float64) ([]float64, error) { return lowerWeights(m, r, c.o.Dim) })
	c.try("minorizer", func() error { return c.minorizer(m) })
}

// minorizer compares the loss with its bound near and far from where they touch, and where
// residuals change their signs: there bounds that touch a second time are equal.
func (c *lossCheck) minorizer(m rowloss.Minorizer) error {
	w, err := lowerWeights(m, c.rows, c.o.Dim)
	if err != nil {
		return err
	}
	_, grad, err := c.evaluate(c.loss, c.rows)
	if err != nil {
		return err
	}
	for _, factor := range []float64{0, -1, -1.01, -0.99, 0.9, 1.1, 1e-3, 3, -3} {
		r := slices.Clone(c.rows)
		for k := range r {
			r[k] *= factor
		}
		if factor == 0 {
			r = c.ordinary()
		}
		values, _, err := c.evaluate(c.loss, r)
		if err != nil {
			return err
		}
		for i, v := range values {
			bound, size := c.values[i], math.Abs(c.values[i])+math.Abs(v)
			for k, x := range c.row(r, i) {
				at := i*c.o.Dim + k
				e := x - c.rows[at]
				bound += (grad[at] + w[at]/2*e) * e
				size += math.Abs(grad[at]*e) + w[at]/2*e*e
			}
			if !(v >= bound-lossTolerance*size) {
				return fmt.Errorf("row %d: %g below its bound %g", i, v, bound)
			}
		}
	}
	return nil
}

// lowerWeights returns one weight per entry.
func lowerWeights(m rowloss.Minorizer, r []float64, dim int) ([]float64, error) {
	w := poisoned(len(r))
	err := m.LowerWeights(w, slices.Clone(r), dim)
	return w, errors.Join(err, written("weight", w))
}
