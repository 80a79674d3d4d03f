package proximal

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
)

// Gradient is the proximal gradient method for a [Composite] f + h. On Euclidean blocks it is
// FISTA,
//
//	x+ = prox(y - t grad f(y)),  y+ = x+ + (k - 1)/k+ (x+ - x),  k+ = (1 + sqrt(1 + 4k^2))/2,
//
// with steps t for which f lies below its quadratic bound. k restarts at 1 when the cost rises. On other manifolds
// with the inherited inner product, such as Stiefel, it is ManPG: it retracts along the tangent vector v defined at
// [Sum], halved until the cost falls by a fraction of |v|^2/(2t).
//
// Sources: A. Beck, M. Teboulle, A fast iterative shrinkage-thresholding algorithm for linear
// inverse problems, SIAM J. Imaging Sci. 2 (2009) 183-202; B. O'Donoghue, E. Candes, Adaptive
// restart for accelerated gradient schemes, Found. Comput. Math. 15 (2015) 715-732; S. Chen, S.
// Ma, A. M.-C. So, T. Zhang, Proximal gradient method for nonsmooth optimization over the
// Stiefel manifold, SIAM J. Optim. 30 (2020) 210-239.
//
// The zero value is ready to use.
type Gradient struct {
	// Length is the first step length t; 0 stands for the size of the point divided by the norm of the gradient.
	// Steps adapt.
	Length float64
}

const (
	// shorter multiplies a step that was too long, longer one that was not.
	shorter, longer = 0.5, 1.1
	// patience is the least number of iterations between two decreases of the step length by the factor clearFall
	// that count.
	patience, clearFall = 3, 0.9
	// maxTrials bounds the steps that are tried in one iteration.
	maxTrials = 60
)

// Name returns "proximal".
func (Gradient) Name() string { return "proximal" }

// NewState returns an empty state for a stored run.
func (Gradient) NewState() framework.State { return &GradientState{} }

// Lacks names the capability that a problem lacks, see [framework.UnsupportedError].
func (Gradient) Lacks(p framework.Problem) string { return lacks(p) }

// GradientState is the state of a run of [Gradient].
type GradientState struct {
	X    framework.Point
	Cost float64
	// Y is the point y, with f and the gradient of f there, and K is k; ManPG has y = x.
	Y, Grad   framework.Point
	Smooth    float64
	K, Length float64
	// Least is the least of the |v|/t so far, and Count the iterations since a clear fall of it.
	Least float64
	Count int

	step *step
	next framework.Point
}

// Iterate returns the current point and its cost.
func (s *GradientState) Iterate() (framework.Point, float64) { return s.X, s.Cost }

// Pending reports that the steps get shorter while decreases of the cost may be hidden by rounding. It does so from
// time to time, so that a run continues.
func (s *GradientState) Pending() bool { return s.Count == 1 }

// learn counts the iterations since the length of the steps has fallen.
func (s *GradientState) learn() {
	s.Count++
	if size := s.step.v.Norm() / s.Length; s.Count >= patience && size < clearFall*s.Least {
		s.Least, s.Count = size, 1
	}
}

// Init evaluates the start.
func (a Gradient) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	if l := a.Lacks(e.Problem()); l != "" {
		return nil, &framework.UnsupportedError{Solver: a.Name(), Lacks: l}
	}
	s := &GradientState{X: x, Y: x.Clone(), Grad: framework.NewPoint(e.Blocks()), K: 1, Length: a.Length, Least: math.Inf(1)}
	err := s.smooth(e)
	if err != nil {
		return nil, err
	}
	_, h := s.parts(e)
	s.Cost = s.Smooth + h.Value(x)
	if !(s.Length > 0) {
		s.Length = math.Max(1, x.Norm()) / s.Grad.Norm()
		if s.Length-s.Length != 0 {
			s.Length = 1
		}
	}
	return s, nil
}

func (s *GradientState) parts(e *framework.Evaluator) (framework.Problem, Penalty) {
	c, _ := framework.As[Composite](e.Problem())
	return c.Parts()
}

// smooth evaluates f and its gradient at y.
func (s *GradientState) smooth(e *framework.Evaluator) (err error) {
	f, _ := s.parts(e)
	s.Smooth, err = e.ChargeCost(func() (float64, float64, error) {
		cost, err := f.Evaluate(s.Grad, s.Y)
		return cost, 2, err
	})
	if err == nil && !math.IsInf(s.Smooth, 0) && !s.Grad.Finite() {
		err = fmt.Errorf("%w: the gradient has NaN or Inf at a point of finite cost", framework.ErrNonFinite)
	}
	return err
}

// Step does one accelerated iteration, or a plain one if the accelerated one raises the cost.
func (a Gradient) Step(e *framework.Evaluator, state framework.State) error {
	s := state.(*GradientState)
	if s.step == nil {
		_, h := s.parts(e)
		s.step, s.next = newStep(e.Blocks(), h), framework.NewPoint(e.Blocks())
	}
	moved, err := s.advance(e)
	if err != nil || moved {
		return err
	}
	if s.K > 1 {
		s.K = 1
		s.Y.CopyFrom(s.X)
		if err := s.smooth(e); err != nil {
			return err
		}
		if moved, err = s.advance(e); err != nil || moved {
			return err
		}
	}
	return framework.ErrNoProgress
}

// advance takes a step from y and reports whether the cost has fallen.
func (s *GradientState) advance(e *framework.Evaluator) (bool, error) {
	cost, err := s.trials(e)
	if err != nil || !(cost <= s.Cost+shortest*math.Abs(s.Cost)) { // a step near the end may be lost in rounding
		return false, err
	}
	s.learn()
	move := 0.
	if s.step.flat {
		k := (1 + math.Sqrt(1+4*s.K*s.K)) / 2
		s.K, move = k, (s.K-1)/k
	}
	s.Y.CopyFrom(s.next)
	s.Y.AddScaled(move, s.next)
	s.Y.AddScaled(-move, s.X)
	s.X, s.next = s.next, s.X
	s.Cost = cost
	s.Length *= longer
	return true, s.smooth(e)
}

// trials shortens the step until f lies below its bound, or the cost falls enough, and returns
// the cost of the next point.
func (s *GradientState) trials(e *framework.Evaluator) (float64, error) {
	f, h := s.parts(e)
	for range maxTrials {
		if err := e.Charge(0, func() error { s.step.solve(s.Y, s.Grad, s.Length); return nil }); err != nil {
			return 0, err
		}
		v := s.step.v
		if s.step.blocks.Retract(s.next, s.Y, v) != nil {
			s.Length *= shorter
			continue
		}
		smooth, err := e.ChargeCost(func() (float64, float64, error) {
			cost, err := f.Evaluate(nil, s.next)
			return cost, 1, err
		})
		if err != nil {
			return 0, err
		}
		cost := smooth + h.Value(s.next)
		square, noise := v.Dot(v)/(2*s.Length), shortest*math.Abs(smooth)
		if s.step.flat && smooth <= s.Smooth+s.Grad.Dot(v)+square+noise || !s.step.flat && cost <= s.Cost-sufficient*square+noise {
			return cost, nil
		}
		if square <= noise {
			break
		}
		s.Length *= shorter
	}
	return math.Inf(1), nil
}
