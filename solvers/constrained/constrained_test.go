package constrained_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/solvers"
	"github.com/scqm/scqm/solvers/constrained"
)

func problems() []known {
	return append(hockSchittkowski(), nonnegativePCA(), sparsePCA(), kMeans(), enclosingCap(), robotArm())
}

// TestKnownAnswers: the optimum to 1e-6 and a violation below 1e-8, over three inner solvers.
func TestKnownAnswers(t *testing.T) {
	for _, inner := range []framework.Solver{nil, solvers.TrustRegion{}, solvers.ConjugateGradient{}} {
		for _, k := range problems() {
			t.Run(k.name, func(t *testing.T) {
				res, err := constrained.Solve(context.Background(), k.p, k.start, constrained.Options{Inner: inner})
				require.NoError(t, err)
				t.Logf("%v %d iterations, %d evaluations, off %.1e, violation %.1e: %s", res.Status, res.Iterations, res.Counts.Evaluations+res.Counts.Hessians, res.Cost-k.best, res.Violation, res.Message)
				assert.InDelta(t, k.best, res.Cost, 1e-6)
				assert.Less(t, res.Violation, 1e-8)
				assert.Equal(t, framework.Converged, res.Status, res.Message)
			})
		}
	}
}

// TestDerivatives tries the laws of problems on the augmented Lagrangians.
func TestDerivatives(t *testing.T) {
	for _, k := range problems() {
		l, err := constrained.NewLagrangian(k.p, 3)
		require.NoError(t, err)
		for i := range l.Multipliers {
			l.Multipliers[i] = float64(i%3) - 1
		}
		frameworktest.TestProblem(t, k.name, l, frameworktest.ProblemOptions{Point: k.start, Seed: 1})
	}
}

// circle is a cost on the plane, at least 1 from the origin in the unit given, times a factor.
func circle(cost func(x []float64) float64, factor float64) functions {
	return functions{
		on: manifolds.Euclidean(2), lower: []float64{1}, upper: []float64{math.Inf(1)},
		cost: func(g, x []float64) float64 {
			if g != nil {
				g[0], g[1] = 2*factor*(x[0]-.1), 2*factor*x[1]
			}
			return factor * cost(x)
		},
		constraint: func(_ int, g, x []float64, w float64) float64 {
			if g != nil {
				floats.AddScaled(g, 2*w, x)
			}
			return floats.Dot(x, x)
		},
	}
}

func near(x []float64) float64 { return (x[0]-.1)*(x[0]-.1) + x[1]*x[1] }

// TestUnits: the unit of the cost does not matter.
func TestUnits(t *testing.T) {
	for _, factor := range []float64{1e-10, 1, 1e10} {
		res, err := constrained.Solve(context.Background(), circle(near, factor), framework.Point{{.3, .4}},
			constrained.Options{Options: framework.Options{Tolerance: 1e-6 * factor}})
		require.NoError(t, err)
		assert.InDeltaSlice(t, []float64{1, 0}, res.Point[0], 1e-5)
		assert.Equal(t, framework.Converged, res.Status, res.Message)
		assert.InEpsilon(t, -.9*factor, res.Multipliers[0], 1e-5)
	}
}

// TestEndings: how runs end that do not converge.
func TestEndings(t *testing.T) {
	start := framework.Point{{.3, .4}}
	solve := func(p constrained.Problem, o framework.Options) (*constrained.Result, error) {
		return constrained.Solve(context.Background(), p, start, constrained.Options{Options: o})
	}
	impossible := circle(near, 1)
	impossible.upper, impossible.lower = []float64{-1}, []float64{-2}
	res, err := solve(impossible, framework.Options{})
	require.NoError(t, err)
	assert.Equal(t, framework.Stalled, res.Status)
	assert.Contains(t, res.Message, "no point nearby meets the constraints")
	assert.InDelta(t, 1, res.Violation, 1e-6)

	observed := 0
	res, err = solve(circle(near, 1), framework.Options{MaxIterations: 5, Observers: []func(framework.Record){func(p framework.Record) {
		assert.GreaterOrEqual(t, p.Iteration, observed)
		observed = p.Iteration
	}}})
	require.NoError(t, err)
	assert.Equal(t, framework.MaxIterations, res.Status)
	assert.Equal(t, 5, res.Iterations)
	assert.Equal(t, 5, observed)

	res, err = solve(circle(near, 1), framework.Options{MaxEvaluations: 9})
	require.NoError(t, err)
	assert.Equal(t, framework.MaxEvaluations, res.Status)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	res, err = constrained.Solve(ctx, circle(near, 1), start, constrained.Options{})
	require.NoError(t, err)
	assert.Equal(t, framework.Cancelled, res.Status)

	calls := 0
	fragile := circle(func(x []float64) float64 {
		if calls++; calls > 20 {
			panic("deliberate")
		}
		return near(x)
	}, 1)
	_, err = solve(fragile, framework.Options{})
	assert.ErrorIs(t, err, framework.ErrPanic)

	for _, bounds := range [][2]float64{{1, 0}, {math.NaN(), 1}, {math.Inf(1), math.Inf(1)}} {
		p := circle(near, 1)
		p.lower, p.upper = []float64{bounds[0]}, []float64{bounds[1]}
		_, err = solve(p, framework.Options{})
		assert.ErrorIs(t, err, framework.ErrInvalid)
	}
	_, err = constrained.Solve(context.Background(), circle(near, 1), framework.Point{{1}}, constrained.Options{})
	assert.ErrorIs(t, err, framework.ErrInvalid)
}

// TestUnboundedStart: costs without a lower bound outside of the constraints.
func TestUnboundedStart(t *testing.T) {
	p := functions{on: manifolds.Euclidean(2), cost: func(g, x []float64) float64 {
		if g != nil {
			g[0] -= 3 * x[0] * x[0]
			g[1] -= 3 * x[1] * x[1]
		}
		return -x[0]*x[0]*x[0] - x[1]*x[1]*x[1]
	}}
	box := constrained.Box{Problem: p, Lower: framework.Point{{-1, -1}}, Upper: framework.Point{{1, 2}}}
	res, err := constrained.Solve(context.Background(), box, framework.Point{{.1, .1}}, constrained.Options{})
	require.NoError(t, err)
	assert.Equal(t, framework.Converged, res.Status, res.Message)
	assert.InDelta(t, -9, res.Cost, 1e-6)
}

// TestUnitsOfConstraints: nor does that of a constraint.
func TestUnitsOfConstraints(t *testing.T) {
	for _, unit := range []float64{1e-5, 1, 1e5} {
		p := circle(near, 1)
		p.lower[0] *= unit
		inside := p.constraint
		p.constraint = func(i int, g, x []float64, w float64) float64 { return unit * inside(i, g, x, unit*w) }
		res, err := constrained.Solve(context.Background(), p, framework.Point{{.3, .4}}, constrained.Options{Feasibility: 1e-9 * unit})
		require.NoError(t, err)
		assert.Equal(t, framework.Converged, res.Status, res.Message)
		assert.InDeltaSlice(t, []float64{1, 0}, res.Point[0], 1e-5)
		assert.InEpsilon(t, -.9/unit, res.Multipliers[0], 1e-5)
		assert.Less(t, res.Counts.Evaluations, 200)
	}
}
