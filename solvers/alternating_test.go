package solvers_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/solvers"
)

// leash is 1 + |y - t|^2 + sum_i e_i (y_i - 1)^2 with outer y, inner t and 30
// stiffnesses e_i from 1 to 1e-3, the smallest of which make plain alternation
// take thousands of sweeps.
type leash struct {
	sweeps  int
	nanFrom int // sweep from which on costs are NaN; 0: never
	jumps   bool
}

const links = 30

func stiffness(i int) float64 { return math.Pow(10, -3*float64(i)/(links-1)) }

func (*leash) Blocks() []framework.Block {
	return []framework.Block{{Name: "y", Manifold: manifolds.Euclidean(links)}, {Name: "t", Manifold: manifolds.Euclidean(links)}}
}

func (*leash) Evaluate(grad, x framework.Point) (float64, error) {
	cost := 1.0
	for i, y := range x[0] {
		d, e := y-x[1][i], stiffness(i)*(y-1)
		cost += d*d + e*(y-1)
		if grad != nil && grad[0] != nil {
			grad[0][i] = 2*d + 2*e
		}
		if grad != nil && grad[1] != nil {
			grad[1][i] = -2 * d
		}
	}
	return cost, nil
}

func (*leash) OuterBlocks() []int { return []int{0} }

func (p *leash) Sweep(next, x framework.Point) (float64, error) {
	p.sweeps++
	copy(next[1], x[0])
	for i, t := range next[1] {
		next[0][i] = (t + stiffness(i)) / (1 + stiffness(i))
	}
	cost, err := p.Evaluate(nil, framework.Point{x[0], next[1]})
	if p.nanFrom > 0 && p.sweeps >= p.nanFrom {
		cost = math.NaN()
	}
	if p.jumps && p.sweeps%4 == 0 {
		cost *= 10 // as if the extrapolation had gone too far
	}
	return cost, err
}

func leashStart() framework.Point { return framework.NewPoint((*leash)(nil).Blocks()) }

func TestAlternatingLaws(t *testing.T) {
	cases := []frameworktest.SolverCase{
		{Name: "leash", New: func() framework.Problem { return &leash{} }, Start: leashStart(), Best: 1, Tolerance: 1e-7},
	}
	frameworktest.TestSolver(t, solvers.Alternating{}, frameworktest.SolverOptions{
		Cases:   cases,
		Options: framework.Options{MaxIterations: 20000, MinRelativeDecrease: -1, Tolerance: 1e-5, GradientUnit: 1},
	})
	frameworktest.TestProblem(t, "leash", &leash{}, frameworktest.ProblemOptions{Seed: 1})
}

func solveLeash(t *testing.T, p framework.Problem, s framework.Solver, o framework.Options) *framework.Result {
	t.Helper()
	o.MinRelativeDecrease = -1
	res, err := framework.Solve(context.Background(), p, leashStart(), s, o)
	require.NoError(t, err)
	return res
}

func TestAlternatingAccelerates(t *testing.T) {
	sweeps := func(s framework.Solver) int {
		p := &leash{}
		res := solveLeash(t, p, s, framework.Options{Tolerance: 1e-5, GradientUnit: 1, CheckEvery: 1, MaxIterations: 100000})
		require.Equal(t, framework.Converged, res.Status)
		return p.sweeps
	}
	plain := sweeps(solvers.Alternating{Plain: true})
	assert.Less(t, sweeps(solvers.Alternating{}), plain/30)
}

func TestAlternatingCountsTruthfully(t *testing.T) {
	p := &leash{}
	res := solveLeash(t, p, solvers.Alternating{}, framework.Options{MaxEvaluations: 25, CheckEvery: 1 << 30})
	assert.Equal(t, framework.MaxEvaluations, res.Status)
	assert.Equal(t, 25, p.sweeps)
	assert.Equal(t, 25, res.Counts.Evaluations)
	last := res.History[len(res.History)-1]
	assert.InDelta(t, 50, last.Passes, 5, "two passes a sweep, and three for the start")
}

// Costs that rise at an extrapolated point are not accepted.
func TestAlternatingNeverRises(t *testing.T) {
	res := solveLeash(t, &leash{jumps: true}, solvers.Alternating{}, framework.Options{MaxIterations: 60})
	for i, r := range res.History[1:] {
		assert.LessOrEqual(t, r.Cost, res.History[i].Cost)
	}
	assert.Less(t, res.Cost-1, (res.History[0].Cost-1)/5)
}

func TestAlternatingEndsWhereSweepsAreNotFinite(t *testing.T) {
	res, err := framework.Solve(context.Background(), &leash{nanFrom: 7}, leashStart(), solvers.Alternating{}, framework.Options{})
	require.Error(t, err)
	assert.Equal(t, framework.Failed, res.Status)
	assert.True(t, res.Point.Finite())
}

// A run goes on bit for bit from a state stored in either phase.
func TestAlternatingStoresEveryPhase(t *testing.T) {
	s := solvers.Alternating{}
	e := framework.NewEvaluator(context.Background(), &leash{})
	state, err := s.Init(e, leashStart())
	require.NoError(t, err)
	mixed := false
	for range 120 {
		var buf bytes.Buffer
		require.NoError(t, gob.NewEncoder(&buf).Encode(state))
		restored := &solvers.AlternatingState{}
		require.NoError(t, gob.NewDecoder(&buf).Decode(restored))
		require.NoError(t, step(s, e, state))
		require.NoError(t, step(s, framework.NewEvaluator(context.Background(), &leash{}), restored))
		x, cost := state.Iterate()
		y, again := restored.Iterate()
		require.True(t, x.Equal(y))
		require.Equal(t, cost, again)
		mixed = mixed || restored.Mixing
	}
	assert.True(t, mixed)
}

func step(s framework.Solver, e *framework.Evaluator, state framework.State) error {
	if err := s.Step(e, state); !errors.Is(err, framework.ErrNoProgress) {
		return err
	}
	return nil
}
