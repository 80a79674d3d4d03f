package bindings

import (
	"errors"
	"fmt"

	"github.com/scqm/scqm/bindings/internal/python"
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/solvers/constrained"
)

// The indices of the addresses of constraints passed to [Minimize].
const (
	valuesAt     = iota // array of count: the constraints at the point of [pointAt]
	weightsAt           // array of count
	lowerAt             // array of count: bounds of the constraints
	upperAt             // array of count
	valuesOfAt          // function: writes the values
	transposedAt        // function: writes the Jacobian, transposed, times the weights, to [gradientAt]
	boxLowerAt          // array of the length of a point: bounds of the unknowns; 0 for none
	boxUpperAt          // array of the length of a point; 0 for none
	constraintEntries
)

// pythonConstraints is a pythonProblem with constraints that are Python functions.
type pythonConstraints struct {
	*pythonProblem
	values, weights, lower, upper []float64
	evaluate, transposed          function
}

// Bounds implements [constrained.Problem].
func (p pythonConstraints) Bounds() (lower, upper []float64) { return p.lower, p.upper }

// Constraints implements [constrained.Problem].
func (p pythonConstraints) Constraints(c []float64, x framework.Point) error {
	if p.failure != nil || len(c) == 0 {
		return p.failure
	}
	pack(p.x, x)
	err := p.note(p.evaluate.Call())
	copy(c, p.values)
	return err
}

// AddTransposedProduct implements [constrained.Problem].
func (p pythonConstraints) AddTransposedProduct(grad, x framework.Point, w []float64) error {
	if p.failure != nil || len(w) == 0 {
		return p.failure
	}
	pack(p.x, x)
	copy(p.weights, w)
	if err := p.note(p.transposed.Call()); err != nil {
		return err
	}
	for k, from := range split(p.blocks, p.grad) {
		for i := range grad[k] {
			grad[k][i] += from[i]
		}
	}
	return nil
}

// newPythonConstraints adds count constraints to p, with the table of their addresses.
// It returns nil if addresses is 0.
func newPythonConstraints(p *pythonProblem, count int, addresses uint64) (constrained.Problem, error) {
	if addresses == 0 {
		return nil, nil
	}
	list, err := viewOf[uint64]("constraints", addresses, constraintEntries)
	if err != nil || count < 0 || count > maxEntries {
		return nil, errors.Join(err, fmt.Errorf("%d constraints: %w", count, framework.ErrInvalid))
	}
	c := pythonConstraints{pythonProblem: p}
	box := constrained.Box{Problem: c}
	if count > 0 {
		for at, to := range map[int]*[]float64{valuesAt: &c.values, weightsAt: &c.weights, lowerAt: &c.lower, upperAt: &c.upper} {
			if *to, err = view("constraints", list[at], count); err != nil {
				return nil, err
			}
		}
		if list[valuesOfAt] == 0 || list[transposedAt] == 0 {
			return nil, fmt.Errorf("constraints: no address: %w", framework.ErrInvalid)
		}
		c.evaluate, c.transposed = python.Function{Object: list[valuesOfAt], Raised: p.raised}, python.Function{Object: list[transposedAt], Raised: p.raised}
	}
	box.Problem = c
	for at, to := range map[int]*framework.Point{boxLowerAt: &box.Lower, boxUpperAt: &box.Upper} {
		bounds, err := optionalView("bounds", list[at], p.blocks.Size())
		if err != nil {
			return nil, err
		}
		if bounds != nil {
			*to = split(p.blocks, bounds)
		}
	}
	return box, nil
}
