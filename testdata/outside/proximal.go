package outside

import "github.com/scqm/scqm/framework"

// Composite is a capability that package framework does not know: a cost f + h, of which
// Evaluate gives the gradient of f and Prox minimises h(y) + |y - x|^2 / 2t over y.
type Composite interface {
	framework.Problem
	Smooth(x framework.Point) (float64, error)
	Prox(dst, x framework.Point, t float64) error
}

// Proximal is the proximal gradient method with steps of length t, halved until f lies below
// its quadratic bound.
type Proximal struct{}

// ProximalState is where a run of Proximal stands.
type ProximalState struct {
	X       framework.Point
	Cost, T float64
}

// Iterate returns the point and its cost.
func (s *ProximalState) Iterate() (framework.Point, float64) { return s.X, s.Cost }

// Name is "proximal".
func (Proximal) Name() string { return "proximal" }

// NewState is for stored runs.
func (Proximal) NewState() framework.State { return &ProximalState{} }

// Lacks asks for the capability, also behind wrappers.
func (Proximal) Lacks(p framework.Problem) string {
	if _, ok := framework.As[Composite](p); !ok {
		return "a proximal map"
	}
	return ""
}

// Init evaluates the start.
func (a Proximal) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	if lacks := a.Lacks(e.Problem()); lacks != "" {
		return nil, &framework.UnsupportedError{Solver: a.Name(), Lacks: lacks}
	}
	cost, err := e.Evaluate(nil, x)
	return &ProximalState{X: x, Cost: cost, T: 1}, err
}

// Step takes one step. Smooth and Prox are work that the run is charged for.
func (Proximal) Step(e *framework.Evaluator, state framework.State) error {
	s := state.(*ProximalState)
	p, _ := framework.As[Composite](e.Problem())
	grad, move, next := framework.NewPoint(e.Blocks()), framework.NewPoint(e.Blocks()), framework.NewPoint(e.Blocks())
	if _, err := e.Gradient(grad, s.X); err != nil {
		return err
	}
	var before, after float64
	err := e.Charge(1, func() (err error) { before, err = p.Smooth(s.X); return err })
	for err == nil {
		move.CopyFrom(s.X)
		move.AddScaled(-s.T, grad)
		err = e.Charge(1, func() (err error) {
			if err = p.Prox(next, move, s.T); err == nil {
				after, err = p.Smooth(next)
			}
			return err
		})
		move.CopyFrom(next)
		move.AddScaled(-1, s.X)
		if bound := before + grad.Dot(move) + move.Dot(move)/(2*s.T); after <= bound+1e-14*abs(bound) {
			break
		}
		s.T /= 2
	}
	if err != nil {
		return err
	}
	cost, err := e.Evaluate(nil, next)
	if err != nil {
		return err
	}
	if !(cost < s.Cost) {
		return framework.ErrNoProgress
	}
	s.X, s.Cost = next, cost
	return nil
}
