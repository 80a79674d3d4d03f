package frameworktest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
)

// conjugate is the method of conjugate gradients with Polak and Ribiere's formula and
// halved steps. Blind to the metric, it takes Euclidean gradients, inner products and
// projections for those of the manifold.
type conjugate struct{ blind bool }

type conjugateState struct {
	X         framework.Point
	Cost      float64
	Grad, Dir framework.Point
	Step      float64
}

func (s *conjugateState) Iterate() (framework.Point, float64) { return s.X, s.Cost }

func (conjugate) Name() string { return "conjugate" }

func (a conjugate) gradient(e *framework.Evaluator, g, x framework.Point) {
	m := framework.Product(e.Blocks())
	if a.blind {
		m.Project(g, x, g)
		return
	}
	m.Gradient(g, x, g)
}

func (a conjugate) inner(e *framework.Evaluator, x, u, v framework.Point) float64 {
	if a.blind {
		return u.Dot(v)
	}
	return framework.Product(e.Blocks()).Inner(x, u, v)
}

func (a conjugate) transport(e *framework.Evaluator, dst, x, y, v framework.Point) {
	if a.blind {
		framework.Product(e.Blocks()).Project(dst, y, v)
		return
	}
	framework.Product(e.Blocks()).Transport(dst, x, y, v)
}

func (a conjugate) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	s := &conjugateState{X: x, Grad: framework.NewPoint(e.Blocks()), Step: 1}
	cost, err := e.Evaluate(s.Grad, x)
	if err != nil {
		return nil, err
	}
	a.gradient(e, s.Grad, x)
	s.Cost, s.Dir = cost, s.Grad.Clone()
	s.Dir.Scale(-1)
	return s, nil
}

func (a conjugate) Step(e *framework.Evaluator, state framework.State) error {
	s := state.(*conjugateState)
	slope := a.inner(e, s.X, s.Grad, s.Dir)
	if !(slope < 0) {
		s.Dir.CopyFrom(s.Grad)
		s.Dir.Scale(-1)
		slope = -a.inner(e, s.X, s.Grad, s.Grad)
	}
	for t := 4 * s.Step; t > 1e-30; t /= 2 {
		next, move := s.X.Clone(), s.Dir.Clone()
		move.Scale(t)
		if framework.Product(e.Blocks()).Retract(next, s.X, move) != nil {
			continue
		}
		grad := framework.NewPoint(e.Blocks())
		cost, err := e.Evaluate(grad, next)
		if err != nil {
			return err
		}
		if !(cost <= s.Cost+0.1*t*slope) {
			continue
		}
		a.gradient(e, grad, next)
		a.turn(e, s, next, grad)
		s.X, s.Cost, s.Grad, s.Step = next, cost, grad, t
		return nil
	}
	return framework.ErrNoProgress
}

// turn writes the next direction.
func (a conjugate) turn(e *framework.Evaluator, s *conjugateState, next, grad framework.Point) {
	moved := s.Grad.Clone()
	a.transport(e, moved, s.X, next, s.Grad)
	beta := max(0, (a.inner(e, next, grad, grad)-a.inner(e, next, grad, moved))/a.inner(e, s.X, s.Grad, s.Grad))
	a.transport(e, moved, s.X, next, s.Dir)
	s.Dir.CopyFrom(moved)
	s.Dir.Scale(beta)
	s.Dir.AddScaled(-1, grad)
}

// A solver that ignores every metric breaks the law of isometry.
func TestSolverSuiteFindsBlindSolvers(t *testing.T) {
	broken := func(s framework.Solver) bool {
		return slices.ContainsFunc(frameworktest.CheckSolver(s, frameworktest.SolverOptions{Options: framework.Options{MaxIterations: 200}}).Broken(),
			func(law string) bool { return strings.HasPrefix(law, "isometry") })
	}
	assert.False(t, broken(conjugate{}))
	assert.True(t, broken(conjugate{blind: true}))
}

// picky needs what no case has.
type picky struct {
	conjugate
	silent bool // takes any problem
}

func (picky) Lacks(framework.Problem) string { return "a label" }

func (a picky) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	if a.silent {
		return a.conjugate.Init(e, x)
	}
	return nil, &framework.UnsupportedError{Solver: a.Name(), Lacks: "a label"}
}

// A solver that says it cannot serve a problem refuses it, and serves some.
func TestSolverSuiteFindsSilentSolvers(t *testing.T) {
	assert.Equal(t, []string{"serves"}, frameworktest.CheckSolver(picky{}, frameworktest.SolverOptions{}).Broken())
	assert.Contains(t, frameworktest.CheckSolver(picky{silent: true}, frameworktest.SolverOptions{}).Broken(), "refusal of least squares")
}
