package frameworktest

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// matrixForm tests the law of a [framework.Quadratic] loss: M is symmetric, r'Mr is the value and 2Mr the gradient.
func (c *lossCheck) matrixForm(q framework.Quadratic) error {
	m, dim := q.Matrix(), c.o.Dim
	if len(m) != dim*dim {
		return fmt.Errorf("%d entries, want %d x %d", len(m), dim, dim)
	}
	slack := lossTolerance * floats.Norm(m, math.Inf(1))
	for j := range dim {
		for k := range j {
			if !(math.Abs(m[j*dim+k]-m[k*dim+j]) <= slack) {
				return fmt.Errorf("entries (%d, %d) and (%d, %d) differ", j, k, k, j)
			}
		}
	}
	double := c.mapRows(c.rows, func(dst, row []float64, _ int) {
		for k := range dst {
			dst[k] = 2 * floats.Dot(m[k*dim:(k+1)*dim], row)
		}
	})
	for i, v := range c.values {
		form := floats.Dot(c.row(c.rows, i), c.row(double, i)) / 2
		if err := errors.Join(agree("r'Mr", []float64{form}, []float64{v}),
			agree("2Mr", c.row(double, i), c.row(c.grad, i))); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}
