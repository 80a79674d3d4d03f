package outside

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/solvers"
)

// Descent is gradient descent on all blocks at once with the steps of Barzilai and
// Borwein, halved until the cost falls.
type Descent struct{}

func init() {
	err := solvers.Register("barzilai_borwein", "gradient descent with the steps of Barzilai and Borwein",
		func() framework.Solver { return Descent{} })
	if err != nil {
		panic(err)
	}
}

// State is where a run of Descent stands; framework.Solve can store it.
type State struct {
	X, Grad framework.Point // Grad is the Riemannian gradient
	Cost    float64
	Size    float64 // of the next step
}

// Iterate returns the point and its cost.
func (s *State) Iterate() (framework.Point, float64) { return s.X, s.Cost }

// Gradient lets framework.Solve test every iterate.
func (s *State) Gradient() framework.Point { return s.Grad }

// Name is "barzilai_borwein".
func (Descent) Name() string { return "barzilai_borwein" }

// NewState is for stored runs.
func (Descent) NewState() framework.State { return &State{} }

// Init evaluates the start.
func (Descent) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	s := &State{X: x, Grad: framework.NewPoint(e.Blocks())}
	cost, err := gradient(e, s.Grad, x)
	s.Cost, s.Size = cost, 1/(1+norm(e, x, s.Grad))
	return s, err
}

// Step goes down the gradient.
func (Descent) Step(e *framework.Evaluator, state framework.State) error {
	s, blocks := state.(*State), e.Blocks()
	step, trial := framework.NewPoint(blocks), framework.NewPoint(blocks)
	slope := norm(e, s.X, s.Grad)
	slope *= slope
	for size := s.Size; size > 1e-16*s.Size; size /= 2 {
		if move(blocks, trial, s.X, step, s.Grad, size) != nil {
			continue // too long a step for the manifold
		}
		cost, err := e.Evaluate(nil, trial)
		if err != nil {
			return err
		}
		enough := s.Cost - 1e-4*size*slope
		if !(cost <= max(enough, s.Cost+1e-14*abs(s.Cost))) {
			continue
		}
		grad := framework.NewPoint(blocks)
		if _, err := gradient(e, grad, trial); err != nil {
			return err
		}
		if cost > enough && rise(blocks, s.X, trial, grad, step, size) > 0.8*slope {
			continue // rounding hides whether the cost falls, but the slope at the end tells
		}
		s.Size = next(blocks, s, trial, grad, step, size)
		s.X, s.Grad, s.Cost = trial, grad, cost
		return nil
	}
	return framework.ErrNoProgress
}

// next is <s, s> / <s, y> for the step s and the change y of the gradient, both at the
// trial, or twice the step where the cost is not convex there.
func next(blocks []framework.Block, s *State, trial, grad, step framework.Point, size float64) float64 {
	var ss, sy float64
	for k, b := range blocks {
		old := make([]float64, len(step[k]))
		b.Transport(old, s.X[k], trial[k], s.Grad[k])
		b.Transport(step[k], s.X[k], trial[k], step[k])
		ss += b.Inner(trial[k], step[k], step[k])
		sy += b.Inner(trial[k], step[k], grad[k]) - b.Inner(trial[k], step[k], old)
	}
	if !(sy > 0) {
		return 2 * size
	}
	return min(max(ss/sy, size/100), 100*size)
}

// rise is the slope of the cost at the trial along the step, relative to its size.
func rise(blocks []framework.Block, x, trial, grad, step framework.Point, size float64) float64 {
	var slope float64
	for k, b := range blocks {
		along := make([]float64, len(step[k]))
		b.Transport(along, x[k], trial[k], step[k])
		slope += b.Inner(trial[k], grad[k], along)
	}
	return slope / size
}

// move retracts x along -size grad.
func move(blocks []framework.Block, trial, x, step, grad framework.Point, size float64) error {
	for k, b := range blocks {
		for i, g := range grad[k] {
			step[k][i] = -size * g
		}
		if err := b.Retract(trial[k], x[k], step[k]); err != nil {
			return err
		}
	}
	return nil
}

// gradient writes the Riemannian gradient.
func gradient(e *framework.Evaluator, dst, x framework.Point) (float64, error) {
	cost, err := e.Gradient(dst, x)
	if err != nil {
		return cost, err
	}
	for k, b := range e.Blocks() {
		b.Gradient(dst[k], x[k], dst[k])
	}
	return cost, nil
}

func norm(e *framework.Evaluator, x, v framework.Point) float64 {
	return framework.Product(e.Blocks()).Norm(x, v)
}

func abs(v float64) float64 { return max(v, -v) }
