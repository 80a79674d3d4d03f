package frameworktest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
)

const (
	lossRows = 16
	lossDim  = 5
	// minEntry keeps ordinary residuals away from the kinks at zero.
	minEntry = 0.05
)

// lossMagnitudes are the sizes of ordinary rows in units of the scale.
var lossMagnitudes = []float64{1, 0.1, 10}

// LossOptions define the residuals on which a loss is checked.
type LossOptions struct {
	// Dim is the number of entries of a row. Zero stands for the length that a [rowloss.Dimensioned] loss requires,
	// or 5.
	Dim int
	// Rows is the number of ordinary residual rows. Zero stands for 16.
	Rows int
	// Seed makes the residuals reproducible.
	Seed uint64
	// Scale is the size of ordinary residuals. A third of them are ten times smaller and a third ten times larger.
	// Zero stands for 1.
	Scale float64
	// NonConvex skips the law that the loss is convex.
	NonConvex bool
	// Tolerance is the error, relative to the largest number of a batch, up to which results count as the same if
	// they should be bit-identical. Zero requires bit-identical results.
	Tolerance float64
}

// lossCheck is a loss under test, with its results on ordinary rows.
type lossCheck struct {
	*Report
	loss               framework.Loss
	o                  LossOptions
	rng                *rand.Rand
	rows, values, grad []float64
}

func (c *lossCheck) name() error {
	name := c.loss.Name()
	if name == "" {
		return errors.New("the name is empty")
	}
	c.Subject = "loss " + name
	if d, ok := c.loss.(rowloss.Dimensioned); ok {
		if d.Dim() < 1 || c.o.Dim > 0 && c.o.Dim != d.Dim() {
			return fmt.Errorf("Dim is %d, rows of %d are to be checked", d.Dim(), c.o.Dim)
		}
		c.o.Dim = d.Dim()
	}
	if c.o.Dim < 1 {
		c.o.Dim = lossDim
	}
	if c.o.Rows < 1 {
		c.o.Rows = lossRows
	}
	if !(c.o.Scale > 0) {
		c.o.Scale = 1
	}
	c.rows = c.ordinary()
	return nil
}

func (c *lossCheck) finite() (err error) {
	c.values, c.grad, err = c.evaluate(c.loss, c.rows)
	if err != nil {
		return err
	}
	return allFinite(c.values, c.grad)
}

func (c *lossCheck) notNegative() error {
	if i := floats.MinIdx(c.values); c.values[i] < 0 {
		return fmt.Errorf("the value of row %d is %g", i, c.values[i])
	}
	return nil
}

// evaluate returns values and gradients of the rows of r. It returns an error if r changes or an entry is not
// written.
func (c *lossCheck) evaluate(l framework.Loss, r []float64) (values, grad []float64, err error) {
	values, grad = poisoned(len(r)/c.o.Dim), poisoned(len(r))
	if err := l.Evaluate(values, grad, slices.Clone(r), c.o.Dim); err != nil {
		return nil, nil, err
	}
	return values, grad, errors.Join(written("value", values), written("gradient entry", grad))
}

// ordinary draws rows of several sizes with entries away from zero.
func (c *lossCheck) ordinary() []float64 {
	r := make([]float64, c.o.Rows*c.o.Dim)
	for k := range r {
		x := 0.0
		for math.Abs(x) < minEntry {
			x = c.rng.NormFloat64()
		}
		r[k] = x * c.o.Scale * lossMagnitudes[k/c.o.Dim%len(lossMagnitudes)]
	}
	return r
}

// sideways draws steps from the ordinary rows that keep the sign of every entry, so that kinks at zero are not
// crossed.
func (c *lossCheck) sideways() []float64 {
	v := slices.Clone(c.rows)
	for k := range v {
		v[k] *= (0.3 + 0.7*c.rng.Float64()) * float64(2*c.rng.IntN(2)-1)
	}
	return v
}

func (c *lossCheck) row(r []float64, i int) []float64 { return r[i*c.o.Dim : (i+1)*c.o.Dim] }

// mapRows writes the image of every row of r.
func (c *lossCheck) mapRows(r []float64, f func(dst, row []float64, i int)) []float64 {
	out := make([]float64, len(r))
	for i := range len(r) / c.o.Dim {
		f(c.row(out, i), c.row(r, i), i)
	}
	return out
}

// same compares results that should be equal to the last bit, or to the given tolerance.
func (c *lossCheck) same(what string, got, want []float64) error {
	if sameBits(got, want) {
		return nil
	}
	if d := largestDifference(got, want); !(d <= c.o.Tolerance*floats.Norm(want, math.Inf(1))) {
		return fmt.Errorf("%s differ by %g", what, d)
	}
	return nil
}
