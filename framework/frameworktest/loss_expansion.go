package frameworktest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// expand expands a loss along v up to the given order.
func (c *lossCheck) expand(l framework.Loss, r, v []float64, order int) (*expansion, error) {
	values, grad, err := c.evaluate(l, r)
	if err != nil {
		return nil, err
	}
	x := &expansion{terms: [][]float64{values, make([]float64, c.o.Rows)}, size: make([]float64, c.o.Rows)}
	for i := range c.o.Rows {
		x.terms[1][i] = floats.Dot(c.row(grad, i), c.row(v, i))
		for k, g := range c.row(grad, i) {
			x.size[i] += math.Abs(g) * (math.Abs(c.row(r, i)[k]) + math.Abs(c.row(v, i)[k]))
		}
	}
	if order > 1 {
		s, ok := l.(framework.SecondOrder)
		if !ok {
			return nil, errors.New("there is no HessianProduct")
		}
		product, err := c.hessian(s, r, v)
		if err != nil {
			return nil, err
		}
		second := make([]float64, c.o.Rows)
		for i := range second {
			second[i] = floats.Dot(c.row(v, i), c.row(product, i))
		}
		x.terms = append(x.terms, second)
	}
	x.at = func(t float64) ([]float64, error) {
		values := poisoned(c.o.Rows)
		moved := floats.AddScaledTo(make([]float64, len(r)), r, t, v)
		err := l.Evaluate(values, nil, moved, c.o.Dim)
		return values, err
	}
	return x, nil
}

// scalarExpansion expands a function of one number at all entries of x, given its first two derivatives. The entries
// must be away from zero.
func scalarExpansion(f func(value, d1, d2, x []float64), x []float64) (*expansion, error) {
	value, d1, d2 := poisoned(len(x)), poisoned(len(x)), poisoned(len(x))
	f(value, d1, d2, slices.Clone(x))
	size := make([]float64, len(x))
	for i, v := range x {
		d1[i] *= v
		d2[i] *= v * v
		size[i] = 2 * math.Abs(d1[i])
	}
	at := func(t float64) ([]float64, error) {
		moved, values := slices.Clone(x), poisoned(len(x))
		floats.Scale(1+t, moved)
		f(values, nil, nil, moved)
		return values, nil
	}
	return &expansion{at: at, terms: [][]float64{value, d1, d2}, size: size}, nil
}

// slopeLaw tests whether the remainders after want terms are of order want at least, and notes the smallest order.
func (c *lossCheck) slopeLaw(law string, want int, build func() (*expansion, error)) {
	var slope Slope
	c.try(law, func() error {
		x, err := build()
		if err != nil {
			return err
		}
		if slope, err = x.smallest(want); err == nil && !slope.AtLeast(float64(want)) {
			err = fmt.Errorf("slope %v, want %d", slope, want)
		}
		return err
	})
	if v := &c.Verdicts[len(c.Verdicts)-1]; v.OK {
		v.Detail = fmt.Sprintf("slope %v", slope)
	}
}

// slopeLaws is slopeLaw for the first and second derivative together.
func (c *lossCheck) slopeLaws(law string, build func() (*expansion, error)) {
	c.try(law, func() error {
		x, err := build()
		if err != nil {
			return err
		}
		for terms := 2; terms <= 3; terms++ {
			slope, err := x.smallest(terms)
			if err != nil {
				return err
			}
			if !slope.AtLeast(float64(terms)) {
				return fmt.Errorf("d%d: slope %v, want %d", terms-1, slope, terms)
			}
		}
		return nil
	})
}

// hessian returns the products of the Hessians at the rows of r with those of v.
func (c *lossCheck) hessian(s framework.SecondOrder, r, v []float64) ([]float64, error) {
	product := poisoned(len(r))
	err := s.HessianProduct(product, slices.Clone(r), slices.Clone(v), c.o.Dim)
	return product, errors.Join(err, written("entry of the product", product))
}
