package framework_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
)

// basin is |x|^2 / 2 with a capability that nobody else knows.
type basin struct{}

func (basin) Blocks() []framework.Block {
	return []framework.Block{{Name: "x", Manifold: manifolds.Euclidean(2)}}
}

func (basin) Evaluate(grad, x framework.Point) (float64, error) {
	if grad != nil {
		copy(grad[0], x[0])
	}
	return x.Dot(x) / 2, nil
}

func (basin) Depth() float64 { return 3 }

// wrapped hides all of a problem but what As finds.
type wrapped struct{ framework.Problem }

func (w wrapped) Unwrap() framework.Problem { return w.Problem }

func TestAs(t *testing.T) {
	type deep interface{ Depth() float64 }
	for _, p := range []framework.Problem{basin{}, wrapped{basin{}}, wrapped{wrapped{basin{}}}} {
		c, ok := framework.As[deep](p)
		require.True(t, ok)
		assert.Equal(t, 3.0, c.Depth())
	}
	for _, p := range []framework.Problem{nil, struct{ framework.Problem }{basin{}}} {
		_, ok := framework.As[deep](p)
		assert.False(t, ok)
	}
}

// worker does nothing but foreign work.
type worker struct {
	passes float64
	work   func() error
}

type workerState struct{ X framework.Point }

func (s *workerState) Iterate() (framework.Point, float64) { return s.X, 1 }
func (worker) Name() string                                { return "worker" }
func (worker) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	return &workerState{x}, nil
}
func (w worker) Step(e *framework.Evaluator, _ framework.State) error {
	if err := e.Charge(w.passes, w.work); err != nil {
		return err
	}
	_, err := e.ChargeCost(func() (cost, passes float64, err error) { return 1, 0.5, nil })
	return err
}

func TestCharge(t *testing.T) {
	o := framework.Options{MaxIterations: -1, Tolerance: -1, MinRelativeDecrease: -1}
	free := func() error { return nil }
	start := framework.Point{{1, 1}}

	o.MaxEvaluations = 30
	res, err := framework.Solve(t.Context(), basin{}, start, worker{0.5, free}, o)
	require.NoError(t, err)
	assert.Equal(t, framework.MaxEvaluations, res.Status)
	assert.Equal(t, 30, res.History[len(res.History)-1].Evaluations, "halves add up, and each iteration has a cost")
	assert.InDelta(t, res.Iterations, res.History[len(res.History)-1].Passes, 5, "certificates are two more each")

	o.MaxEvaluations = 0
	ctx, cancel := context.WithCancel(t.Context())
	res, err = framework.Solve(ctx, basin{}, start, worker{0, func() error { cancel(); return nil }}, o)
	require.NoError(t, err)
	assert.Equal(t, framework.Cancelled, res.Status)

	res, err = framework.Solve(t.Context(), basin{}, start, worker{1, func() error { panic("boom") }}, o)
	require.ErrorIs(t, err, framework.ErrPanic)
	assert.Equal(t, framework.Failed, res.Status)

	mine := errors.New("mine")
	_, err = framework.Solve(t.Context(), basin{}, start, worker{1, func() error { return mine }}, o)
	require.ErrorIs(t, err, mine)

	e := framework.NewEvaluator(t.Context(), basin{})
	for range 5 {
		var cost float64
		cost, err = e.ChargeCost(func() (cost, passes float64, err error) { return math.NaN(), 1, nil })
		assert.True(t, math.IsInf(cost, 1))
	}
	require.ErrorIs(t, err, framework.ErrNonFinite)
}
