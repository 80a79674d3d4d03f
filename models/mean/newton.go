package mean

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
)

// newton takes Newton steps from close to the mean, where nothing needs to be
// damped. It ends where a step would not lower the cost.
type newton struct{ p *Problem }

type newtonState struct {
	X    framework.Point
	Cost float64
	Grad framework.Point
}

// Name implements [framework.Solver].
func (newton) Name() string { return "newton" }

// Iterate implements [framework.State].
func (s *newtonState) Iterate() (framework.Point, float64) { return s.X, s.Cost }

// Init evaluates the start.
func (newton) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	s := &newtonState{X: x.Clone(), Grad: framework.NewPoint(e.Blocks())}
	var err error
	s.Cost, err = e.Evaluate(s.Grad, s.X)
	return s, err
}

// Step moves by -H^-1 times the gradient.
func (a newton) Step(e *framework.Evaluator, state framework.State) error {
	s := state.(*newtonState)
	factor, err := a.p.factorize(s.X[0])
	if err != nil {
		return framework.ErrNoProgress
	}
	step := mat.NewVecDense(len(s.X[0]), nil)
	if err := factor.SolveVecTo(step, mat.NewVecDense(len(s.X[0]), s.Grad[0])); err != nil {
		return framework.ErrNoProgress
	}
	trial, grad := s.X.Clone(), framework.NewPoint(e.Blocks())
	floats.Sub(trial[0], step.RawVector().Data)
	cost, err := e.Evaluate(grad, trial)
	if err != nil {
		return err
	}
	if cost > s.Cost {
		return framework.ErrNoProgress
	}
	s.X, s.Cost, s.Grad = trial, cost, grad
	return nil
}
