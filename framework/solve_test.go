package framework_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/stop"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/solvers"
)

// bowl is |x|^2/2 in R^2; evaluate may stand in for it.
type bowl struct {
	calls    int
	evaluate func(p *bowl, grad, x framework.Point) (float64, error)
}

func (*bowl) Blocks() []framework.Block {
	return []framework.Block{{Name: "x", Manifold: manifolds.Euclidean(2)}}
}

func (p *bowl) Evaluate(grad, x framework.Point) (float64, error) {
	p.calls++
	if p.evaluate != nil {
		return p.evaluate(p, grad, x)
	}
	return bowlCost(grad, x)
}

func bowlCost(grad, x framework.Point) (float64, error) {
	if grad != nil {
		copy(grad[0], x[0])
	}
	return (x[0][0]*x[0][0] + x[0][1]*x[0][1]) / 2, nil
}

var corner = framework.Point{{3, 4}}

// slow takes one percent of the way to the minimum in every step.
var slow = solvers.RGD{InitialStep: 0.01, Grow: 1}

func solve(t *testing.T, p framework.Problem, s framework.Solver, o framework.Options) *framework.Result {
	t.Helper()
	res, err := framework.Solve(context.Background(), p, corner, s, o)
	require.NoError(t, err)
	return res
}

func TestSolveEndings(t *testing.T) {
	for _, c := range []struct {
		name    string
		options framework.Options
		want    framework.Status
	}{
		{"converged", framework.Options{MaxIterations: -1}, framework.Converged},
		{"max_iter", framework.Options{MaxIterations: 7}, framework.MaxIterations},
		{"max_evaluations", framework.Options{MaxEvaluations: 9}, framework.MaxEvaluations},
		{"time_limit", framework.Options{TimeLimit: 1}, framework.TimeLimit},
		{"stalled", framework.Options{MinRelativeDecrease: 0.5}, framework.Stalled},
		{"stalled", framework.Options{Stop: stop.Decrease(1, 1)}, framework.Stalled},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := solve(t, &bowl{}, slow, c.options)
			assert.Equal(t, c.want, res.Status)
			assert.Equal(t, c.name, res.Status.String())
			assert.NotEmpty(t, res.Message)
			cost, _ := bowlCost(nil, res.Point)
			assert.Equal(t, cost, res.Cost)
			assert.InDelta(t, math.Hypot(res.Point[0][0], res.Point[0][1]), res.Stationarity[0], 1e-15)
		})
	}
}

// A problem that gives up in an evaluation as the time is over ends the run at its best point.
func TestTimeLimitInsideEvaluations(t *testing.T) {
	for _, last := range []bool{true, false} { // whether there is time for what is told of the result
		over := func(p *bowl, grad, x framework.Point) (float64, error) {
			if p.calls == 6 || p.calls > 6 && !last {
				return 0, fmt.Errorf("block 3: %w", context.DeadlineExceeded)
			}
			return bowlCost(grad, x)
		}
		res := solve(t, &bowl{evaluate: over}, slow, framework.Options{TimeLimit: time.Hour})
		assert.Equal(t, framework.TimeLimit, res.Status)
		cost, _ := bowlCost(nil, res.Point)
		assert.Equal(t, cost, res.Cost)
		assert.Less(t, cost, 12.5)
		assert.Equal(t, last, res.Stationarity != nil)
		_, err := framework.Solve(context.Background(), &bowl{evaluate: over}, corner, slow, framework.Options{})
		assert.ErrorIs(t, err, context.DeadlineExceeded, "which is an error without a limit")
	}
}

func TestSolveCountsIterations(t *testing.T) {
	var seen []int
	o := framework.Options{MaxIterations: 5, Observers: []func(framework.Record){
		func(p framework.Record) { seen = append(seen, p.Iteration) },
	}}
	res := solve(t, &bowl{}, slow, o)
	assert.Equal(t, 5, res.Iterations)
	assert.Equal(t, []int{0, 1, 2, 3, 4, 5}, seen)
	require.Len(t, res.History, 6)
	for i := 1; i < 6; i++ {
		assert.Less(t, res.History[i].Cost, res.History[i-1].Cost)
		assert.Greater(t, res.History[i].Passes, res.History[i-1].Passes)
	}
}

// A point that is stationary says so even where another limit ended the run.
func TestConvergedIsRecomputed(t *testing.T) {
	res := solve(t, &bowl{}, solvers.RGD{InitialStep: 1}, framework.Options{MaxIterations: 1})
	assert.Equal(t, framework.Converged, res.Status)
	gradients := 0
	liar := &bowl{evaluate: func(p *bowl, grad, x framework.Point) (float64, error) {
		cost, _ := bowlCost(grad, x)
		if grad != nil {
			if gradients++; gradients <= 2 { // at the start and after the first step
				grad[0][0], grad[0][1] = grad[0][0]/1e3, grad[0][1]/1e3
			}
		}
		return cost, nil
	}}
	res, err := framework.Solve(context.Background(), liar, framework.Point{{3e-4, 4e-4}}, slow, framework.Options{FirstOrder: true, Tolerance: 1e-6, GradientUnit: 1})
	require.NoError(t, err)
	assert.Equal(t, 1, res.Iterations)
	assert.Equal(t, framework.Stalled, res.Status)
}

// emptier has a dimension that makes no sense.
type emptier struct{ manifolds.Euclidean }

func (emptier) Dim() int { return -1 }

func TestSolveRefuses(t *testing.T) {
	stiefel := []framework.Block{{Name: "Q", Manifold: manifolds.NewStiefel(2, 1)}}
	onStiefel := fixed{stiefel}
	for name, c := range map[string]struct {
		p     framework.Problem
		x     framework.Point
		o     framework.Options
		place string
	}{
		"blocks":     {&bowl{}, framework.Point{{1, 2}, {3}}, framework.Options{}, "2 blocks"},
		"length":     {&bowl{}, framework.Point{{1, 2, 3}}, framework.Options{}, "block x"},
		"NaN":        {&bowl{}, framework.Point{{1, math.NaN()}}, framework.Options{}, "block x"},
		"manifold":   {onStiefel, framework.Point{{1, 1}}, framework.Options{}, "block Q"},
		"no sphere":  {fixed{[]framework.Block{{Name: "u", Manifold: manifolds.Sphere(0)}}}, framework.Point{{}}, framework.Options{}, `block 0 ("u"): manifolds: sphere 0`},
		"negative":   {fixed{[]framework.Block{{Name: "u", Manifold: emptier{}}}}, framework.Point{{}}, framework.Options{}, "dimension -1"},
		"tolerance":  {&bowl{}, corner, framework.Options{Tolerance: math.NaN()}, "Tolerance"},
		"time limit": {&bowl{}, corner, framework.Options{TimeLimit: -time.Second}, "TimeLimit"},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := framework.Solve(context.Background(), c.p, c.x, slow, c.o)
			assert.Nil(t, res)
			require.ErrorIs(t, err, framework.ErrInvalid)
			assert.ErrorContains(t, err, c.place)
		})
	}
}

// fixed is a constant cost on some blocks.
type fixed struct{ blocks []framework.Block }

func (p fixed) Blocks() []framework.Block { return p.blocks }

func (p fixed) Evaluate(grad, _ framework.Point) (float64, error) {
	for _, g := range grad {
		clear(g)
	}
	return 1, nil
}

func TestSolveRestoresDrift(t *testing.T) {
	p := fixed{[]framework.Block{{Name: "Q", Manifold: manifolds.NewStiefel(2, 1)}}}
	res, err := framework.Solve(context.Background(), p, framework.Point{{1 + 1e-8, 0}}, slow, framework.Options{})
	require.NoError(t, err)
	assert.InDelta(t, 1, res.Point[0][0], 1e-15)
	assert.Equal(t, framework.Converged, res.Status)
}

func TestSolveFailures(t *testing.T) {
	broken := errors.New("disk on fire")
	at := func(call int, do func() (float64, error)) *bowl {
		return &bowl{evaluate: func(p *bowl, grad, x framework.Point) (float64, error) {
			if p.calls >= call {
				return do()
			}
			return bowlCost(grad, x)
		}}
	}
	nan := func() (float64, error) { return math.NaN(), nil }
	for name, c := range map[string]struct {
		p    *bowl
		want error
	}{
		"error":           {at(6, func() (float64, error) { return 0, broken }), broken},
		"panic":           {at(6, func() (float64, error) { panic("boom") }), framework.ErrPanic},
		"NaN for ever":    {at(6, nan), framework.ErrNonFinite},
		"error in finish": {at(3, func() (float64, error) { return 0, broken }), broken},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := framework.Solve(context.Background(), c.p, corner, slow, framework.Options{})
			require.ErrorIs(t, err, c.want)
			require.NotNil(t, res)
			assert.Equal(t, framework.Failed, res.Status)
			assert.LessOrEqual(t, res.Cost, 12.5)
			assert.True(t, res.Point.Finite())
		})
	}
	t.Run("NaN at the start", func(t *testing.T) {
		res, err := framework.Solve(context.Background(), at(1, nan), corner, slow, framework.Options{})
		require.ErrorIs(t, err, framework.ErrNonFinite)
		assert.Nil(t, res)
	})
	t.Run("five in a row", func(t *testing.T) {
		p := at(3, nan) // start and first gradient are fine
		_, err := framework.Solve(context.Background(), p, corner, slow, framework.Options{})
		require.ErrorIs(t, err, framework.ErrNonFinite)
		assert.Equal(t, 2+5, p.calls)
	})
	t.Run("panicking observer", func(t *testing.T) {
		o := framework.Options{Observers: []func(framework.Record){func(framework.Record) { panic("boom") }}}
		res, err := framework.Solve(context.Background(), &bowl{}, corner, slow, o)
		require.ErrorIs(t, err, framework.ErrPanic)
		require.NotNil(t, res)
	})
}

// A trial point outside of the domain shortens the step and is no failure.
func TestSolveStepsBackIntoTheDomain(t *testing.T) {
	p := &bowl{evaluate: func(_ *bowl, grad, x framework.Point) (float64, error) {
		if grad != nil {
			grad[0][0], grad[0][1] = 1-1/x[0][0], x[0][1]
		}
		return x[0][0] - math.Log(x[0][0]) + x[0][1]*x[0][1]/2, nil
	}}
	res := solve(t, p, solvers.RGD{InitialStep: 100}, framework.Options{})
	assert.Equal(t, framework.Converged, res.Status)
	assert.InDelta(t, 1, res.Point[0][0], 1e-5)
}

func TestSolveCancelledInsideTheProblem(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := &bowl{evaluate: func(p *bowl, grad, x framework.Point) (float64, error) {
		if p.calls == 20 {
			cancel()
			return 0, fmt.Errorf("gave up: %w", ctx.Err())
		}
		return bowlCost(grad, x)
	}}
	res, err := framework.Solve(ctx, p, corner, slow, framework.Options{})
	require.NoError(t, err)
	assert.Equal(t, framework.Cancelled, res.Status)
	assert.Less(t, res.Cost, 12.5)
	assert.Equal(t, 20, p.calls, "nothing is evaluated after a cancellation")
	res, err = framework.Solve(ctx, &bowl{}, corner, slow, framework.Options{})
	require.NoError(t, err)
	assert.Equal(t, framework.Cancelled, res.Status)
	assert.Equal(t, corner, res.Point)
}

// resuming counts how often the cost is evaluated and how often gradients are
// added to it.
type resuming struct {
	bowl
	resumed int
	at      framework.Point
}

func (p *resuming) Evaluate(grad, x framework.Point) (float64, error) {
	p.at = x.Clone()
	return p.bowl.Evaluate(grad, x)
}

func (p *resuming) Resume(grad framework.Point) error {
	p.resumed++
	_, err := bowlCost(grad, p.at)
	return err
}

func TestAcceptedPointIsNotEvaluatedAgain(t *testing.T) {
	p := &resuming{}
	res := solve(t, p, slow, framework.Options{MaxIterations: 8, CheckEvery: 100})
	const certificate = 3
	assert.Equal(t, 1+8, res.Counts.Evaluations, "the start and one accepted trial per iteration")
	assert.Equal(t, 1+8+certificate, p.calls)
	assert.Equal(t, 8, p.resumed)
	// The gradient at the last iterate is what observers see and a next step begins with.
	assert.InDelta(t, 1+8+8+1+certificate, res.Counts.Passes, 0)
}

// A square root on the positive numbers: a problem and a solver in a few lines.
func ExampleSolve() {
	p := &bowl{evaluate: func(_ *bowl, grad, x framework.Point) (float64, error) {
		r := x[0][0]*x[0][0] - 2
		if grad != nil {
			grad[0][0], grad[0][1] = 4*r*x[0][0], 2*x[0][1]
		}
		return r*r + x[0][1]*x[0][1], nil
	}}
	res, err := framework.Solve(context.Background(), p, framework.Point{{1, 1}}, solvers.RGD{}, framework.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v: %.4f\n", res.Status, res.Point[0][0])
	// Output: converged: 1.4142
}
