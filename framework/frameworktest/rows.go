package frameworktest

import (
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"gonum.org/v1/gonum/floats"
)

// checkRows tries the laws of blocks whose rows have independent costs.
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

// rowCosts moves rows, one at a time and no more than ten.
func (c *problemCheck) rowCosts(p latent.RowSeparable, k int) error {
	n := c.blocks[k].Rows()
	for i := 0; i < n; i += (n + 9) / 10 {
		if err := c.rowCost(p, k, i); err != nil {
			return err
		}
	}
	return nil
}

// rowCost moves one row and compares what happens to the cost and to the cost
// of that row.
func (c *problemCheck) rowCost(p latent.RowSeparable, k, i int) error {
	b := c.blocks[k]
	moved := c.x.Clone()
	v := c.direction(k)
	if err := b.Manifold.Retract(b.Row(moved[k], i), b.Row(c.x[k], i), b.Row(v, i)); err != nil {
		return err
	}
	var cost [2]float64
	rows := [2][]float64{make([]float64, b.Rows()), make([]float64, b.Rows())}
	for j, x := range []framework.Point{c.x, moved} {
		var err error
		if cost[j], err = c.p.Evaluate(nil, x); err != nil {
			return err
		}
		if err := p.EvaluateRows(rows[j], nil, x, k, nil); err != nil {
			return err
		}
	}
	change, rowChange := cost[1]-cost[0], rows[1][i]-rows[0][i]
	noise := 1e-11 * (math.Abs(cost[0]) + math.Abs(cost[1]))
	if math.Abs(change-rowChange) > noise {
		return fmt.Errorf("moving row %d changes the cost by %g, but its row cost by %g", i, change, rowChange)
	}
	rows[1][i] = rows[0][i]
	if !slices.Equal(rows[0], rows[1]) {
		return fmt.Errorf("moving row %d changes the costs of other rows", i)
	}
	return nil
}

// rowGradients compares the gradient by rows with the gradient of the whole.
func (c *problemCheck) rowGradients(p latent.RowSeparable, k int) error {
	b := c.blocks[k]
	all, costs := c.poisoned(), make([]float64, b.Rows())
	if _, err := c.p.Evaluate(all, c.x); err != nil {
		return err
	}
	g := c.poisoned()[k]
	if err := p.EvaluateRows(costs, g, c.x, k, nil); err != nil {
		return err
	}
	if !floats.EqualApprox(g, all[k], 1e-11*(1+floats.Norm(all[k], math.Inf(1)))) {
		return fmt.Errorf("the gradients by rows differ from the gradient of the whole")
	}
	return nil
}

// listedRows evaluates some rows only and looks for writes to the others.
func (c *problemCheck) listedRows(p latent.RowSeparable, k int) error {
	b := c.blocks[k]
	n := b.Rows()
	all, allGrad := make([]float64, n), make([]float64, b.Size())
	if err := p.EvaluateRows(all, allGrad, c.x, k, nil); err != nil {
		return err
	}
	var list []int
	for i := n - 1; i >= 0; i -= 2 {
		list = append(list, i)
	}
	some, someGrad := make([]float64, n), c.poisoned()[k]
	floats.AddConst(math.NaN(), some)
	if err := p.EvaluateRows(some, someGrad, c.x, k, list); err != nil {
		return err
	}
	for i := range n {
		if !slices.Contains(list, i) {
			if !math.IsNaN(some[i]) {
				return fmt.Errorf("row %d is written, but not listed", i)
			}
			continue
		}
		if some[i] != all[i] || !slices.Equal(b.Row(someGrad, i), b.Row(allGrad, i)) {
			return fmt.Errorf("row %d differs when it is listed from when all are evaluated", i)
		}
	}
	return nil
}
