package frameworktest_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/internal/drill"
)

// descent is gradient descent on all blocks at once, with steps halved until
// the cost falls. Each field breaks one law.
type descent struct {
	givesUp, random, ignoresEnd, loses, costsOnly, stale bool
}

type descentState struct {
	X     framework.Point
	Cost  float64
	Count int
	Stale bool
	count int // belongs into the stored state
	grad  framework.Point
}

func (s *descentState) Iterate() (framework.Point, float64) { return s.X, s.Cost }

// Gradient tells the gradient before the last step where that is to break the law.
func (s *descentState) Gradient() framework.Point {
	if !s.Stale {
		return nil
	}
	return s.grad
}

func (descent) Name() string { return "descent" }

func (a descent) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	cost, err := e.Evaluate(nil, x)
	return &descentState{X: x, Cost: cost, Stale: a.stale}, err
}

func (a descent) Step(e *framework.Evaluator, state framework.State) error {
	s := state.(*descentState)
	if s.grad == nil {
		s.grad = framework.NewPoint(e.Blocks())
	}
	if _, err := e.Evaluate(s.grad, s.X); err != nil {
		return a.end(err)
	}
	for k, b := range e.Blocks() {
		b.Gradient(s.grad[k], s.X[k], s.grad[k])
	}
	eta := 0.5
	if a.random {
		eta *= 0.9 + 0.1*rand.Float64()
	}
	if s.count++; a.loses {
		eta /= float64(s.count)
	}
	if a.givesUp && s.count > 5 {
		return framework.ErrNoProgress
	}
	for range 40 {
		next, err := a.move(e, s, eta)
		if err != nil {
			return err
		}
		end := framework.NewPoint(e.Blocks())
		cost, err := e.Evaluate(end, next)
		if err != nil {
			return a.end(err)
		}
		if a.low(e.Blocks(), s, next, end, cost) {
			s.X, s.Cost = next, cost
			return nil
		}
		eta /= 2
	}
	return framework.ErrNoProgress
}

// low asks the slope at the trial, and the cost no more than rounding allows.
func (a descent) low(blocks []framework.Block, s *descentState, next, end framework.Point, cost float64) bool {
	if a.costsOnly {
		return cost < s.Cost
	}
	var slope, first float64
	for k, b := range blocks {
		b.Gradient(end[k], next[k], end[k])
		g := make([]float64, len(end[k]))
		b.Transport(g, s.X[k], next[k], s.grad[k])
		slope -= b.Inner(next[k], end[k], g)
		first -= b.Inner(s.X[k], s.grad[k], s.grad[k])
	}
	return slope <= -0.5*first && cost <= s.Cost+1e-13*math.Abs(s.Cost)
}

func (a descent) move(e *framework.Evaluator, s *descentState, eta float64) (framework.Point, error) {
	next := s.X.Clone()
	for k, b := range e.Blocks() {
		for i, g := range s.grad[k] {
			next[k][i] = -eta * g
		}
		if err := b.Retract(next[k], s.X[k], next[k]); err != nil {
			return nil, err
		}
	}
	return next, nil
}

func (a descent) end(err error) error {
	if a.ignoresEnd {
		return errors.New("swallowed: " + err.Error())
	}
	return err
}

var long = frameworktest.SolverOptions{Options: framework.Options{MaxIterations: 20000, MinRelativeDecrease: -1}}

func TestSolverSuiteAcceptsASoundSolver(t *testing.T) {
	frameworktest.TestSolver(t, descent{}, long)
}

func TestSolverSuiteFindsBrokenLaws(t *testing.T) {
	for name, c := range map[string]struct {
		s    descent
		laws []string
	}{
		"gives up":                {descent{givesUp: true}, []string{"known answer"}},
		"random":                  {descent{random: true}, []string{"deterministic", "stored state"}},
		"swallows the end":        {descent{ignoresEnd: true}, []string{"evaluation budget", "cancellation"}},
		"looks at costs only":     {descent{costsOnly: true}, []string{"added constant"}},
		"tells a stale gradient":  {descent{stale: true}, []string{"first within tolerance"}},
		"loses part of its state": {descent{loses: true}, []string{"stored state"}},
	} {
		t.Run(name, func(t *testing.T) {
			options := long
			if drill.Race && c.laws[0] != "known answer" && c.laws[0] != "added constant" { // the others need no end
				options.Options.MaxIterations = 2000
			}
			broken := frameworktest.CheckSolver(c.s, options).Broken()
			for _, law := range c.laws {
				assert.True(t, slices.ContainsFunc(broken, func(b string) bool { return strings.HasPrefix(b, law) }), "%s: %v", law, broken)
			}
		})
	}
}
