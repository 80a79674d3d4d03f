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
	"github.com/scqm/scqm/solvers"
)

// alone leaves a Stop in charge.
func alone(s framework.Stop) framework.Options {
	return framework.Options{MaxIterations: -1, Tolerance: -1, MinRelativeDecrease: -1, Stop: s}
}

func TestStops(t *testing.T) {
	never := stop.Iterations(math.MaxInt)
	mine := framework.Stop(func(h []framework.Record) (framework.Status, bool) {
		x, _ := h[len(h)-1].State.Iterate()
		return framework.Stopped, x[0][0] < 2
	})
	for name, c := range map[string]struct {
		stop   framework.Stop
		want   framework.Status
		within func(r *framework.Result) bool
	}{
		"gradient":   {stop.Gradient(1e-3), framework.Converged, func(r *framework.Result) bool { return r.Stationarity[0] <= 1e-3 }},
		"decrease":   {stop.Decrease(1e-3, 3), framework.Stalled, func(r *framework.Result) bool { return r.Cost < 0.1 }},
		"relative":   {stop.RelativeDecrease(1e-3, 1), framework.Stalled, func(r *framework.Result) bool { return r.Cost < 1 }},
		"step":       {stop.Step(1e-2), framework.Stalled, func(r *framework.Result) bool { return r.History[r.Iterations].Step <= 1e-2 }},
		"iterations": {stop.Iterations(7), framework.MaxIterations, func(r *framework.Result) bool { return r.Iterations == 7 }},
		"time":       {stop.Time(time.Millisecond), framework.TimeLimit, func(r *framework.Result) bool { return r.Elapsed >= time.Millisecond }},
		"cost":       {stop.Cost(3), framework.Stopped, func(r *framework.Result) bool { return r.Cost <= 3 && r.Cost > 2.8 }},
		"my own":     {mine, framework.Stopped, func(r *framework.Result) bool { return r.Point[0][0] < 2 }},
		"or":         {never.Or(stop.Cost(3)), framework.Stopped, func(r *framework.Result) bool { return r.Cost <= 3 }},
		"and":        {stop.Iterations(3).And(stop.Cost(3)), framework.MaxIterations, func(r *framework.Result) bool { return r.Cost <= 3 && r.Iterations > 3 }},
	} {
		res := solve(t, &bowl{}, slow, alone(c.stop))
		assert.Equal(t, c.want, res.Status, name)
		assert.True(t, c.within(res), "%s: %v after %d iterations", name, res.Cost, res.Iterations)
		assert.Contains(t, res.Message, "Stop", name)
	}
	res := solve(t, &bowl{}, slow, alone(stop.Cost(1e6)))
	assert.Equal(t, 0, res.Iterations, "the start is looked at too")
}

// A Stop that calls a point converged is asked again with what is computed anew there.
func TestStopIsHeldToItsWord(t *testing.T) {
	gradients := 0
	liar := &bowl{evaluate: func(p *bowl, grad, x framework.Point) (float64, error) {
		cost, err := bowlCost(grad, x)
		if grad != nil {
			if gradients++; gradients == 4 {
				grad[0][0], grad[0][1] = 0, 0
			}
		}
		return cost, err
	}}
	o := alone(stop.Gradient(1e-9))
	o.CheckEvery = 1 << 30
	res, err := framework.Solve(t.Context(), liar, corner, slow, o)
	require.NoError(t, err)
	assert.Less(t, res.Iterations, 6)
	assert.Equal(t, framework.Stalled, res.Status)
}

func TestIterate(t *testing.T) {
	want := solve(t, &bowl{}, slow, framework.Options{MaxIterations: 6})
	n := 0
	for r, err := range framework.Iterate(t.Context(), &bowl{}, corner, slow, framework.Options{MaxIterations: 6}) {
		require.NoError(t, err)
		assert.Equal(t, n, r.Iteration)
		assert.Equal(t, want.History[n].Cost, r.Cost)
		assert.Equal(t, want.History[n].Passes, r.Passes)
		assert.InDelta(t, r.Point.Norm(), r.GradientNorm, 1e-12, "of half the squared norm")
		n++
	}
	assert.Equal(t, 7, n)

	p := &bowl{}
	for range framework.Iterate(t.Context(), p, corner, slow, framework.Options{}) {
		break
	}
	assert.Less(t, p.calls, 8, "leaving the loop ends the run")

	mine := errors.New("mine")
	broken := &bowl{evaluate: func(p *bowl, grad, x framework.Point) (float64, error) {
		if p.calls > 9 {
			return 0, mine
		}
		return bowlCost(grad, x)
	}}
	var failure error
	for _, err := range framework.Iterate(t.Context(), broken, corner, slow, framework.Options{}) {
		failure = err
	}
	require.ErrorIs(t, failure, mine)

	assert.PanicsWithValue(t, "boom", func() {
		for range framework.Iterate(t.Context(), &bowl{}, corner, slow, framework.Options{}) {
			panic("boom")
		}
	})
}

// A run watched from outside, ended by a rule of one's own.
func ExampleIterate() {
	far, solver := framework.Point{{3, 4}}, solvers.LBFGS{Search: solvers.StrongWolfe{C2: 0.5}}
	o := framework.Options{Stop: stop.Gradient(1e-3).Or(stop.Cost(1))}
	for r, err := range framework.Iterate(context.Background(), &bowl{}, far, solver, o) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d: cost %.3f at distance %.2f\n", r.Iteration, r.Cost, r.Point.Norm())
	}
	// Output:
	// 0: cost 12.500 at distance 5.00
	// 1: cost 0.500 at distance 1.00
}
