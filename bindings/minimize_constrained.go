package bindings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/scqm/scqm/bindings/internal/python"
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/solvers/constrained"
)

// The addresses of constraints that MinimizeConstrained is given, in their order.
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

// constraintSettings are what MinimizeConstrained has beyond [minimizeSettings].
type constraintSettings struct {
	// Count is the number of constraints besides the bounds of the unknowns.
	Count int `json:"count"`
	// Feasibility bounds their violation at which a run has converged; 0 for the default.
	Feasibility float64 `json:"feasibility"`
}

// pythonConstraints are a problem with constraints that are functions in Python.
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

// newPythonConstraints reads the addresses of constraints of a problem.
func newPythonConstraints(p *pythonProblem, count int, addresses, raised uint64) (constrained.Problem, error) {
	list, err := addressList("constraints", addresses, constraintEntries)
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
		c.evaluate, c.transposed = python.Function{Object: list[valuesOfAt], Raised: raised}, python.Function{Object: list[transposedAt], Raised: raised}
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

// MinimizeConstrained is [Minimize] under constraints, lower <= c(x) <= upper, and bounds of
// the unknowns. The settings are those of Minimize with the entries count and feasibility;
// constraints is where the addresses of the constraints' arrays and functions are. The report
// has the entries report, which is that of Minimize with the norm of the gradient of the
// Lagrangian as grad_norm, violation, and multipliers: those of bounds of the unknowns that
// are not infinite, then those of the constraints.
func MinimizeConstrained(settings string, addresses, constraints uint64) (string, error) {
	return guarded("minimize", func() (string, error) {
		var s struct {
			minimizeSettings
			constraintSettings
		}
		if err := decode(settings, &s); err != nil {
			return "", err
		}
		p, err := newPythonProblem(s.Blocks, addresses)
		if err != nil {
			return "", err
		}
		list, err := addressList("addresses", addresses, addressEntries)
		if err != nil {
			return "", err
		}
		c, err := newPythonConstraints(p, s.Count, constraints, list[raisedAt])
		if err != nil {
			return "", err
		}
		return s.serve(p, func(m minimizeSettings) (string, error) { return m.minimizeUnder(p, c, s.Feasibility) })
	})
}

// minimizeUnder returns the report of [MinimizeConstrained].
func (s minimizeSettings) minimizeUnder(p *pythonProblem, c constrained.Problem, feasibility float64) (string, error) {
	start, err := startAt(p.blocks, p.iterate)
	if err != nil {
		return "", err
	}
	o := constrained.Options{Feasibility: feasibility, Options: framework.Options{
		MaxIterations: s.MaxIterations, TimeLimit: seconds(s.TimeLimit),
		Tolerance: math.Max(s.Tolerance/math.Sqrt(float64(len(start))), math.SmallestNonzeroFloat64),
	}}
	if s.Solver != solverAuto {
		if o.Inner, err = s.choose(c); err != nil {
			return "", err
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	trace := newRunTrace(p.blocks)
	o.Observers = []func(framework.Record){trace.observe}
	if watch := p.observe(cancel); watch != nil {
		o.Observers = append(o.Observers, watch)
	}
	result, err := constrained.Solve(ctx, c, start, o)
	if p.failure != nil {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	pack(p.iterate, result.Point)
	report, err := p.report(solution{result.Result, result.Solver, trace})
	if err != nil {
		return "", err
	}
	return encode(map[string]any{
		"report": json.RawMessage(report), "violation": norm(result.Violation), "multipliers": result.Multipliers,
	})
}
