package solvers_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/solvers"
)

// kinked is sum_i |a_i'x - b_i| for lines in the plane: its minimum is at a
// crossing of two of them, where it has no gradient.
type kinked struct {
	a     [][2]float64
	b     []float64
	eps   float64
	plain int // evaluations without rounding
	fail  int // the evaluation that fails
	calls int
}

var errBroken = errors.New("broken")

// crossing has its minimum at (2, -1), where the first two lines cross: their
// weight exceeds the slope of the others.
func crossing() *kinked {
	return &kinked{
		a: [][2]float64{{3, 1}, {1, -4}, {1, 0}, {0, 1}, {0.5, 0.5}},
		b: []float64{5, 6, 10, 7, -3},
	}
}

const crossingBest = 8 + 8 + 3.5

func (p *kinked) Blocks() []framework.Block {
	return []framework.Block{{Name: "x", Manifold: manifolds.Euclidean(2)}}
}

func (p *kinked) Evaluate(grad, x framework.Point) (float64, error) {
	if p.calls++; p.calls == p.fail {
		return 0, errBroken
	}
	if p.eps == 0 {
		p.plain++
	}
	var cost float64
	if grad != nil {
		clear(grad[0])
	}
	for i, a := range p.a {
		r := a[0]*x[0][0] + a[1]*x[0][1] - p.b[i]
		s := math.Hypot(r, p.eps)
		cost += s - p.eps
		if grad != nil && s > 0 {
			grad[0][0] += a[0] * r / s
			grad[0][1] += a[1] * r / s
		}
	}
	return cost, nil
}

func (p *kinked) SmoothingScale(framework.Point) (float64, error) { return 5, nil }
func (p *kinked) Smooth(eps float64)                              { p.eps = eps }

func kinkedCase() frameworktest.SolverCase {
	return frameworktest.SolverCase{
		Name: "kinks", New: func() framework.Problem { return crossing() },
		Start: framework.Point{{-30, 20}}, Best: crossingBest, Tolerance: 1e-4,
	}
}

func TestContinuationLaws(t *testing.T) {
	for name, s := range map[string]solvers.Continuation{
		"default":          {},
		"gradient descent": {Inner: solvers.RGD{}},
	} {
		t.Run(name, func(t *testing.T) {
			frameworktest.TestSolver(t, s, frameworktest.SolverOptions{
				Cases:   []frameworktest.SolverCase{kinkedCase(), pcaCase(8, 3), procrustesCase(6, 3)},
				Options: framework.Options{MaxIterations: 20000, MinRelativeDecrease: -1, Tolerance: 1e-5, GradientUnit: 1},
			})
		})
	}
}

func TestContinuationReachesTheKink(t *testing.T) {
	c := kinkedCase()
	p := crossing()
	res := run(t, p, c.Start, solvers.Continuation{}, framework.Options{MinRelativeDecrease: -1})
	assert.InDelta(t, crossingBest, res.Cost, 1e-4)
	assert.InDeltaSlice(t, []float64{2, -1}, res.Point[0], 1e-4)
	assert.Zero(t, p.eps, "the problem is left as it was")
	assert.Equal(t, framework.Stalled, res.Status, "the gradient norm does not vanish at a kink")
	assert.Less(t, p.plain, 20+res.Counts.Evaluations/10, "the cost itself is evaluated now and then")
}

// The history shows the cost itself, which never rises, and a stage without
// news is no stall.
func TestContinuationReportsTheCostItself(t *testing.T) {
	c := kinkedCase()
	res := run(t, c.New(), c.Start, solvers.Continuation{}, framework.Options{Patience: 1})
	check := crossing()
	cost, err := check.Evaluate(nil, res.Point)
	require.NoError(t, err)
	assert.Equal(t, cost, res.Cost)
	assert.InDelta(t, crossingBest, cost, 1e-3)
	for i, r := range res.History[1:] {
		assert.LessOrEqual(t, r.Cost, res.History[i].Cost)
	}
}

func TestContinuationEndsInTheMiddle(t *testing.T) {
	for limit := 2; limit < 60; limit += 3 {
		p := crossing()
		res := run(t, p, framework.Point{{-30, 20}}, solvers.Continuation{}, framework.Options{MaxEvaluations: limit})
		assert.Equal(t, framework.MaxEvaluations, res.Status)
		assert.Zero(t, p.eps, "after %d evaluations", limit)
	}
	for fail := 2; fail < 40; fail += 3 {
		p := crossing()
		p.fail = fail
		res, err := framework.Solve(context.Background(), p, framework.Point{{-30, 20}}, solvers.Continuation{}, framework.Options{})
		require.ErrorIs(t, err, errBroken)
		require.NotNil(t, res)
		assert.Zero(t, p.eps)
		cost, err := crossing().Evaluate(nil, res.Point)
		require.NoError(t, err)
		assert.Equal(t, cost, res.Cost, "the best point and its cost without rounding")
	}
}

// Without kinks the inner solver runs alone.
func TestContinuationPassesThrough(t *testing.T) {
	c := rosenbrockCase()
	want := run(t, c.New(), c.Start, solvers.LBFGS{}, framework.Options{})
	got := run(t, c.New(), c.Start, solvers.Continuation{}, framework.Options{})
	assert.Equal(t, want.Point, got.Point)
	assert.Equal(t, want.Counts, got.Counts)
	assert.Equal(t, want.Iterations, got.Iterations)
	assert.Equal(t, "lbfgs", solvers.Continuation{}.Name())
}

// A run that is stored in any iteration, within a stage or between two, ends
// where the run that was not interrupted does.
func TestContinuationResumes(t *testing.T) {
	c := kinkedCase()
	whole := run(t, c.New(), c.Start, solvers.Continuation{}, framework.Options{})
	for stop := 1; stop < whole.Iterations; stop += 7 {
		var stored bytes.Buffer
		checkpoint := framework.Checkpoint{Store: func(write func(io.Writer) error) error {
			stored.Reset()
			return write(&stored)
		}}
		run(t, c.New(), c.Start, solvers.Continuation{}, framework.Options{MaxIterations: stop, Checkpoint: &checkpoint})
		rest := run(t, c.New(), c.Start, solvers.Continuation{}, framework.Options{Checkpoint: &framework.Checkpoint{Stored: &stored}})
		assert.Equal(t, whole.Point, rest.Point, "stopped after %d", stop)
		assert.Equal(t, whole.Iterations, rest.Iterations)
		assert.Equal(t, whole.Counts, rest.Counts)
	}
}
