package solvers

import (
	"cmp"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/framework/stop"
)

// RGD is blockwise Riemannian gradient descent: every iteration takes one
// gradient step in each block in turn, x_k <- R(x_k, -eta_k grad_k), with the
// gradient computed at the newest point (Gauss-Seidel) and the step found by
// Armijo backtracking,
//
//	F(new) <= F - Armijo * eta * |grad|^2.
//
// Rejected steps are halved. A block whose rows have independent costs has a step of its own for every
// row. This is Algorithm 1 of Zhai and Li, Robust Subspace-Constrained
// Quadratic Models (arXiv 2605.20300), with the gradients and the squared norm
// corrected; [PaperRGD] has the settings of the authors' released code.
//
// The zero value is ready to use.
type RGD struct {
	// InitialStep is the first trial step eta of a block or row. For rows, and for a problem that is a
	// [framework.Certifier], 0 stands for cost / |grad|^2, the step after which a linear cost would vanish. Other
	// costs may have a constant: there 0 stands for 1 / |grad|, a move of unit length.
	InitialStep float64
	// Armijo is the fraction of the predicted reduction that a step must reach, in (0, 1); 0 stands for 1e-4.
	Armijo float64
	// Grow multiplies the step of the next iteration where the first trial of
	// this one was accepted; 0 stands for 2, 1 never grows.
	Grow float64
	// MaxBacktracks bounds the trials after the first; 0 stands for 40.
	MaxBacktracks int
	// Restart starts every search at InitialStep.
	Restart bool
}

// PaperRGD returns the settings of the released code of Zhai and Li: every
// step restarts at 0.1 in each iteration, Armijo constant 1e-2, at most 20
// halvings. [PaperOptions] has its stopping rule.
func PaperRGD() RGD {
	return RGD{InitialStep: 0.1, Armijo: 1e-2, Grow: 1, MaxBacktracks: 20, Restart: true}
}

// PaperOptions returns the stopping rule of the released code: 1000 iterations,
// or a decrease of less than 1e-7 in the unit of the cost.
func PaperOptions() framework.Options {
	return framework.Options{MaxIterations: 1000, MinRelativeDecrease: -1, Patience: 1, Stop: stop.Decrease(1e-7, 1)}
}

// Name returns "rgd".
func (RGD) Name() string { return "rgd" }

// RGDState is the state of a run of [RGD].
type RGDState struct {
	X    framework.Point
	Cost float64
	// Steps[k] holds the first trial step of the next search: one for block k, or one for each of its rows; 0
	// before the first search.
	Steps [][]float64
	// Grad is the Riemannian gradient at X if Known is true; otherwise it holds the gradients of the blocks moved
	// last.
	Grad  framework.Point
	Known bool

	trial, end, along framework.Point
	search            blockSearch
}

// Iterate returns the current point and its cost.
func (s *RGDState) Iterate() (framework.Point, float64) { return s.X, s.Cost }

// Gradient returns the Riemannian gradient at the iterate, or nil if a block has rows of independent costs: the
// gradients of these rows are computed at different points.
func (s *RGDState) Gradient() framework.Point {
	if !s.Known {
		return nil
	}
	return s.Grad
}

// NewState returns an empty state for a stored run.
func (RGD) NewState() framework.State { return &RGDState{} }

func (a RGD) withDefaults() RGD {
	a.Armijo = cmp.Or(a.Armijo, armijoConstant)
	a.Grow = cmp.Or(a.Grow, 2)
	a.MaxBacktracks = cmp.Or(a.MaxBacktracks, 40)
	return a
}

// Init evaluates the start.
func (a RGD) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	if err := notNegative(a.Name(), "MaxBacktracks", a.MaxBacktracks); err != nil {
		return nil, err
	}
	blocks := e.Blocks()
	s := &RGDState{X: x, Grad: framework.NewPoint(blocks), Steps: make([][]float64, len(blocks))}
	for k, b := range blocks {
		n := 1
		if latent.SeparableRows(e, k) {
			n = b.Rows()
		}
		s.Steps[k] = make([]float64, n)
	}
	if !anyRowSeparable(e) {
		return s, s.evaluate(e)
	}
	var err error
	s.Cost, err = e.Evaluate(nil, x)
	return s, err
}

// evaluate computes the cost and the gradient at X.
func (s *RGDState) evaluate(e *framework.Evaluator) error {
	cost, err := e.Gradient(s.Grad, s.X)
	if err != nil {
		return err
	}
	framework.Product(e.Blocks()).Gradient(s.Grad, s.X, s.Grad)
	s.Cost, s.Known = cost, true
	return nil
}

func anyRowSeparable(e *framework.Evaluator) bool {
	for k := range e.Blocks() {
		if latent.SeparableRows(e, k) {
			return true
		}
	}
	return false
}

// Step moves every block once. The gradient at the end is computed for all blocks: the first block of the next
// step needs its part, at the same number of evaluations.
func (a RGD) Step(e *framework.Evaluator, state framework.State) error {
	a = a.withDefaults()
	s := state.(*RGDState)
	if s.trial == nil {
		s.trial = framework.NewPoint(e.Blocks())
	}
	moved := false
	for k, b := range e.Blocks() {
		if b.Dim() == 0 {
			continue
		}
		m, err := a.move(e, s, k)
		if err != nil {
			return err
		}
		moved = moved || m
	}
	switch {
	case !moved:
		return framework.ErrNoProgress
	case anyRowSeparable(e):
		return nil
	default:
		return s.evaluate(e)
	}
}
