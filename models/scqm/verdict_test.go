package scqm

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/alternating"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/solvers"
)

// byHand are the solvers that users choose among, but the one that is published.
var byHand = map[string]framework.Solver{
	"newton":      solvers.Continuation{Inner: solvers.Newton{}},
	"lbfgs":       solvers.Continuation{Inner: solvers.LBFGS{}},
	"alternating": solvers.Continuation{Inner: solvers.Alternating{}},
}

// Rows on a line or in a plane are fitted without curvature, and the penalty is a
// rounding error, also where a coordinate has nothing to describe.
func TestFlatRowsHaveNoPenalty(t *testing.T) {
	line, plane := Data{N: 20, D: 3, X: make([]float64, 60)}, Data{N: 40, D: 3, X: make([]float64, 120)}
	for i := range line.N {
		u := -1 + 2*float64(i)/19
		copy(line.Row(i), []float64{u, 2 * u, 3 * u})
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range plane.N {
		u, v := rng.NormFloat64(), rng.NormFloat64()
		copy(plane.Row(i), []float64{5 + u, 5 + 2*u + v, 5 + 3*u - v})
	}
	for name, x := range map[string]Data{"line": line, "plane": plane} {
		for _, loss := range []string{"l2", "squared_l2", "l1", "huber"} {
			for solver, s := range byHand {
				if !serves(s, named(t, loss, 3)) {
					continue
				}
				fit := learn(t, x, Config{Latent: 2, Loss: named(t, loss, 3), Ridge: 1, Solver: s})
				label := []any{"%s, %s, %s", name, loss, solver}
				assert.Equal(t, framework.Converged, fit.Run.Status, label...)
				assert.Less(t, fit.Model.Meta.Penalty, 1e-14, label...)
				assert.Less(t, fit.Model.Meta.Objective, 1e-12, label...)
			}
		}
	}
}

// The penalty of a sheet through all rows is a term of the gradient that nothing
// balances: a smooth loss has none there.
func TestPenaltyIsPartOfTheVerdict(t *testing.T) {
	x := Data{N: 20, D: 2, X: make([]float64, 40)}
	at := func(p *Problem) framework.Point {
		y := framework.NewPoint(p.Blocks())
		y[BlockQ][0], y[BlockQ][3], y[BlockTheta][0] = 1, 1, 1
		for i := range x.N {
			y[BlockTau][i] = x.X[2*i]
		}
		return y
	}
	for i := range x.N {
		u := -1 + 2*float64(i)/19
		copy(x.Row(i), []float64{u, u * u})
	}
	s := make([]float64, objective.NumBlocks)
	for name, want := range map[string]float64{"squared_l2": 1, "huber": 1, "l2": 0} {
		p, err := NewProblem(context.Background(), x, named(t, name, 2), 1, 1, 1)
		require.NoError(t, err)
		require.NoError(t, p.Stationarity(s, at(p)))
		assert.Zero(t, s[BlockTheta], "%s without a penalty", name)
		p.Lambda = 0.1
		require.NoError(t, p.Stationarity(s, at(p)))
		assert.InDelta(t, want, s[BlockTheta], 0, "%s: subgradients at a kink may balance it", name)
	}
	p, err := NewProblem(context.Background(), x, named(t, "l2", 2), 1, 1, 1)
	require.NoError(t, err)
	p.Lambda = 1e3
	require.NoError(t, p.Stationarity(s, at(p)))
	assert.InDelta(t, 1, s[BlockTheta], 0, "no subgradient is that large")
}

// A parabola with two rows far out has long valleys in which gradients are small, and fits that the test of
// first order alone calls converged end far from their end. Solvers that do not get there do not say that they
// have converged.
func TestPlateausAreLeft(t *testing.T) {
	x := rowsWithPlateaus()
	ridges, tolerances := []float64{NoRidge}, []float64{1e-6}
	if drill.Whole() {
		ridges, tolerances = []float64{NoRidge, DefaultRidge}, []float64{1e-4, 1e-6}
	}
	for _, ridge := range ridges {
		c := Config{Latent: 1, Loss: named(t, "squared_l2", 2), Ridge: ridge, Options: framework.Options{Tolerance: 1e-4, FirstOrder: true}}
		rest := learn(t, x, c).Run
		require.Equal(t, framework.Converged, rest.Status)
		c.Options = framework.Options{Tolerance: 1e-9, FirstOrder: true}
		best := learn(t, x, c).Run
		assert.Less(t, best.Cost, 0.6*rest.Cost)
		for solver, s := range byHand {
			for _, tolerance := range tolerances {
				c.Solver, c.Options = s, framework.Options{Tolerance: tolerance, MaxIterations: 10000}
				if run := learn(t, x, c).Run; run.Status == framework.Converged {
					assert.Less(t, run.Cost, best.Cost*(1+1e-3), "%s, tolerance %g, ridge %v", solver, tolerance, ridge)
				}
			}
		}
	}
}

// rowsWithPlateaus are rows near a parabola with two far out.
func rowsWithPlateaus() Data {
	rng := rand.New(rand.NewPCG(129, 2))
	x := Data{N: 22, D: 2, X: make([]float64, 44)}
	for i := range x.N {
		u := 2*rng.Float64() - 1
		copy(x.Row(i), []float64{u + 0.05*rng.NormFloat64(), u*u + 0.05*rng.NormFloat64()})
	}
	for _, i := range []int{4, 15} {
		x.Row(i)[0] *= 100
		x.Row(i)[1] *= 100
	}
	return x
}

// Rows whose objective falls for as long as the curvature grows have no fit that
// is called converged; a ridge gives them one.
func TestRunawayIsNotConverged(t *testing.T) {
	x, d := outlyingRows(drill.Case{Index: 85, Rand: drill.Stream(1, "runaways", 85)})
	fit := learn(t, x, Config{Latent: d, Loss: named(t, "squared_l2", x.D), Ridge: NoRidge, Options: framework.Options{MaxIterations: 3000}})
	assert.Equal(t, framework.Stalled, fit.Run.Status, fit.Run.Message)
	assert.Contains(t, fit.Run.Message, "the curvature still grows")
	fit = learn(t, x, Config{Latent: d, Loss: named(t, "squared_l2", x.D), Ridge: 0.001})
	assert.Equal(t, framework.Converged, fit.Run.Status, fit.Run.Message)
}

// serves reports whether a solver fits a loss.
func serves(s framework.Solver, l framework.Loss) bool {
	if c, ok := s.(solvers.Continuation); ok {
		s = c.Inner
	}
	if _, sweeps := s.(solvers.Alternating); sweeps {
		_, quadratic := l.(framework.Quadratic)
		return alternating.CanSweep(l) || quadratic
	}
	return true
}

// Entries of a residual that are 0 by rounding add |rounding|^p to the cost, which multipliers do not see. Here that is
// a hundred-thousandth of the cost.
func TestCertificatesCountTheRoundingOfEntries(t *testing.T) {
	loss, err := losses.Lp(1.25)
	require.NoError(t, err)
	x := Data{N: 4, D: 2, X: []float64{1e-5, 1e7, -1e-5, 1e7, 1e-5, -1e7, -1e-5, -1e7}}
	p, err := NewProblem(t.Context(), x, loss, 1, 0, 1)
	require.NoError(t, err)
	at := framework.Point{{0, 0}, {0, 1}, {}, {1e7, 1e7, -1e7, -1e7}}
	dual, of := make([]float64, 8), make([]float64, 4)
	require.NoError(t, loss.Evaluate(nil, dual, []float64{-1e-5, 0, 1e-5, 0, -1e-5, 0, 1e-5, 0}, 2))
	p.SetMultipliers(dual)
	require.NoError(t, p.Stationarity(of, at))
	assert.Greater(t, slices.Max(of), framework.DefaultTolerance)
}
