package frameworktest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"gonum.org/v1/gonum/floats"
)

// checkRows tests the laws of blocks whose rows have independent costs.
func (c *problemCheck) checkRows(r *Report) {
	p := c.p.(latent.RowSeparable)
	for k, b := range c.blocks {
		if !p.SeparableRows(k) {
			continue
		}
		r.try("row costs of "+b.Name, func() error { return c.rowCosts(p, k) })
		r.try("row gradients of "+b.Name, func() error { return c.rowGradients(p, k) })
		r.try("listed rows of "+b.Name, func() error { return c.listedRows(p, k) })
	}
}

// rowsAt evaluates the listed rows of block k at x, nil for all. Entries that are not written stay NaN.
func (c *problemCheck) rowsAt(p latent.RowSeparable, x framework.Point, k int, list []int) (costs, grad []float64, err error) {
	costs, grad = make([]float64, c.blocks[k].Rows()), c.poisoned()[k]
	fill(costs, math.NaN())
	return costs, grad, p.EvaluateRows(costs, grad, x, k, list)
}

// rowCosts moves up to ten rows, one at a time, and compares the changes of the cost and of the costs of rows.
func (c *problemCheck) rowCosts(p latent.RowSeparable, k int) error {
	b := c.blocks[k]
	before, err := c.p.Evaluate(nil, c.x)
	costs, _, err2 := c.rowsAt(p, c.x, k, nil)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	for i := 0; i < b.Rows(); i += (b.Rows() + 9) / 10 {
		moved := c.x.Clone()
		if err := b.Manifold.Retract(b.Row(moved[k], i), b.Row(c.x[k], i), b.Row(c.direction(k), i)); err != nil {
			return err
		}
		after, err := c.p.Evaluate(nil, moved)
		movedCosts, _, err2 := c.rowsAt(p, moved, k, nil)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		change, rowChange := after-before, movedCosts[i]-costs[i]
		if !(math.Abs(change-rowChange) <= 1e-11*(math.Abs(before)+math.Abs(after))) {
			return fmt.Errorf("moving row %d changes the cost by %g, but its row cost by %g", i, change, rowChange)
		}
		if movedCosts[i] = costs[i]; !slices.Equal(costs, movedCosts) {
			return fmt.Errorf("moving row %d changes the costs of other rows", i)
		}
	}
	return nil
}

// rowGradients compares the gradient by rows with the full gradient.
func (c *problemCheck) rowGradients(p latent.RowSeparable, k int) error {
	all := c.poisoned()
	_, err := c.p.Evaluate(all, c.x)
	_, g, err2 := c.rowsAt(p, c.x, k, nil)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if !floats.EqualApprox(g, all[k], 1e-11*(1+floats.Norm(all[k], math.Inf(1)))) {
		return errors.New("the gradients by rows differ from the gradient of the whole")
	}
	return nil
}

// listedRows evaluates every other row only, and checks that the rest is not written.
func (c *problemCheck) listedRows(p latent.RowSeparable, k int) error {
	b := c.blocks[k]
	var list []int
	for i := b.Rows() - 1; i >= 0; i -= 2 {
		list = append(list, i)
	}
	all, allGrad, err := c.rowsAt(p, c.x, k, nil)
	some, someGrad, err2 := c.rowsAt(p, c.x, k, list)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	for i := range some {
		switch listed := slices.Contains(list, i); {
		case !listed && !math.IsNaN(some[i]):
			return fmt.Errorf("row %d is written, but not listed", i)
		case listed && (some[i] != all[i] || !slices.Equal(b.Row(someGrad, i), b.Row(allGrad, i))):
			return fmt.Errorf("row %d differs when it is listed from when all are evaluated", i)
		}
	}
	return nil
}
