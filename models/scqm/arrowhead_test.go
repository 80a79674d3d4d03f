package scqm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/models/scqm/internal/problemtest"
	"github.com/scqm/scqm/solvers"
)

// sphereNeighbours returns the k points nearest to point number center of n
// points on the unit sphere with Gaussian noise.
func sphereNeighbours(seed uint64, n, k, center int, noise float64) Data {
	rng := rand.New(rand.NewPCG(seed, 11))
	points := make([][]float64, n)
	for i := range points {
		p := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		floats.Scale(1/floats.Norm(p, 2), p)
		for j := range p {
			p[j] += noise * rng.NormFloat64()
		}
		points[i] = p
	}
	at := slices.Clone(points[center])
	slices.SortFunc(points, func(a, b []float64) int {
		return int(math.Copysign(1, floats.Distance(a, at, 2)-floats.Distance(b, at, 2)))
	})
	return Data{N: k, D: 3, X: slices.Concat(points[:k]...)}
}

// On neighbourhoods of a sphere, a few iterations bring the cost within a
// millionth of its limit.
func TestNewtonOnSphereNeighbourhoods(t *testing.T) {
	for name, most := range map[string]float64{"squared_l2": 40, "huber": 40, "mahalanobis": 40, "lp 3": 42, "lp 4": 40} {
		var counts []float64
		for fit := range 16 {
			counts = append(counts, newtonCount(t, sphereNeighbours(uint64(fit), 300, 30, 10*fit, 0.06), name, solvers.Newton{}))
		}
		slices.Sort(counts)
		assert.LessOrEqual(t, counts[len(counts)/2], most, name)
	}
}

// With kinks to round it takes more.
func TestContinuationOnSphereNeighbourhoods(t *testing.T) {
	for name, most := range map[string]float64{"lp 1.5": 115, "l2": 340, "l1": 560} {
		var counts []float64
		for fit := range 6 {
			x := sphereNeighbours(uint64(fit), 300, 30, 10*fit, 0.06)
			counts = append(counts, newtonCount(t, x, name, solvers.Continuation{Inner: solvers.Newton{}}))
		}
		slices.Sort(counts)
		assert.LessOrEqual(t, counts[len(counts)/2], most, name)
	}
}

// newtonCount returns twice the number of assemblies plus the number of trials
// after which a fit is within a millionth of where it ends. Settling rows, which
// takes no part of the frame but Q, is not counted.
func newtonCount(t *testing.T, x Data, loss string, solver framework.Solver) float64 {
	t.Helper()
	var evaluations []int
	run := learn(t, x, Config{Latent: 2, Loss: named(t, loss, 3), Ridge: 10, Solver: solver, Options: framework.Options{
		MaxIterations: 1000, MinRelativeDecrease: -1, Tolerance: 1e-12, CheckEvery: 1 << 30,
		Observers: []func(framework.Record){func(p framework.Record) { evaluations = append(evaluations, p.Counts.Evaluations) }},
	}}).Run
	for k, r := range run.History {
		if r.Cost <= run.Cost*(1+1e-6) {
			return float64(r.Iteration + evaluations[k])
		}
	}
	return math.Inf(1)
}

// Rows settle where second derivatives mislead: where those of lp 4 vanish with
// the residual, and where those of a rounded l1 are zero away from its kink.
func TestRowsSettle(t *testing.T) {
	for _, name := range []string{"squared_l2", "mahalanobis", "lp 4", "l1", "lp 1.5"} {
		x := sphereNeighbours(3, 300, 30, 0, 0.06)
		p, at := begin(t, x, named(t, name, 3), 2, 1, 1)
		p.SolveTheta(at)
		if name == "l1" || name == "lp 1.5" {
			p.Smooth(1e-3)
		}
		before, err := p.Evaluate(nil, at)
		require.NoError(t, err)
		moved := at.Clone()
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range moved[BlockTau] {
			moved[BlockTau][i] += 0.3 * rng.NormFloat64()
		}
		away, err := p.Evaluate(nil, moved)
		require.NoError(t, err)
		require.Greater(t, away, 3*before, name)
		for range 4 {
			away, _, err = p.InnerStep(moved, moved[BlockTau])
			require.NoError(t, err)
		}
		assert.LessOrEqual(t, away, before*(1+1e-9), name)
	}
}

// The laws of second derivatives hold for every loss, rounded where it has
// kinks, with the kernels for surfaces in space and with those for any shape.
func TestArrowheadLaws(t *testing.T) {
	for _, shape := range []struct{ D, d, s int }{{3, 2, 1}, {3, 1, 2}, {5, 2, 2}, {4, 3, 1}} {
		for _, name := range allLosses {
			p, x := curvedProblem(t, name, shape.D, shape.d, shape.s)
			if scale, err := p.SmoothingScale(x); assert.NoError(t, err) && scale > 0 {
				p.Smooth(0.3)
			}
			frameworktest.TestProblem(t, name, p, frameworktest.ProblemOptions{Point: x, Seed: 5})
			assert.Empty(t, brokenArrowhead(p, x, 5), "%s %v", name, shape)
		}
	}
}

// curvedProblem is a problem with weights, some of them zero, and a penalty, at a
// random point.
func curvedProblem(t testing.TB, loss string, D, d, s int) (*Problem, framework.Point) {
	t.Helper()
	p, err := NewProblem(t.Context(), problemtest.WeightedRows(D), named(t, loss, D), d, s, 1)
	require.NoError(t, err)
	return p, problemtest.Place(t, p.Objective)
}

// wrongArrowhead breaks one thing about the second derivatives.
type wrongArrowhead struct {
	*Problem
	spoil  func(*latent.Arrowhead)
	settle bool             // settling does nothing
	move   bool             // Q moves along other coordinates
	last   *framework.Point // where derivatives were computed last, which saves a pass
}

func (p wrongArrowhead) AssembleHessian(a *latent.Arrowhead, x framework.Point) (cost, passes float64, err error) {
	cost, passes, err = p.Problem.AssembleHessian(a, x)
	if p.spoil != nil {
		p.spoil(a)
	}
	if p.last != nil {
		if !p.last.Equal(x) {
			passes++
		}
		*p.last = x.Clone()
	}
	return cost, passes, err
}

func (p wrongArrowhead) InnerStep(x framework.Point, other []float64) (cost, passes float64, err error) {
	if p.settle {
		cost, err = p.Evaluate(nil, x)
		return cost, 1, err
	}
	return p.Problem.InnerStep(x, other)
}

func (p wrongArrowhead) RetractOuter(dst, x framework.Point, v []float64) error {
	if p.move {
		v = slices.Clone(v)
		v[p.Shape().D] *= 1.01
	}
	return p.Problem.RetractOuter(dst, x, v)
}

func TestArrowheadLawsFindMistakes(t *testing.T) {
	for name, wrong := range map[string]struct {
		wrongArrowhead
		law string
	}{
		"outer gradient":  {wrongArrowhead{spoil: func(a *latent.Arrowhead) { a.OuterGrad[4] *= 1.01 }}, "arrowhead slope, outer"},
		"outer Hessian":   {wrongArrowhead{spoil: func(a *latent.Arrowhead) { a.A[4*a.Outer+4] *= 1.05 }}, "arrowhead slope, outer"},
		"coupling":        {wrongArrowhead{spoil: func(a *latent.Arrowhead) { floats.Scale(1.05, a.B) }}, "arrowhead slope, joint"},
		"inner gradient":  {wrongArrowhead{spoil: func(a *latent.Arrowhead) { floats.Scale(1.01, a.InnerGrad) }}, "arrowhead slope, inner"},
		"inner Hessian":   {wrongArrowhead{spoil: func(a *latent.Arrowhead) { floats.Scale(1.05, a.C) }}, "arrowhead slope, inner"},
		"asymmetry":       {wrongArrowhead{spoil: func(a *latent.Arrowhead) { a.A[1]++ }}, "arrowhead written and symmetric"},
		"not settled":     {wrongArrowhead{settle: true}, "inner step"},
		"passes saved":    {wrongArrowhead{last: &framework.Point{}}, "arrowhead passes"},
		"other movements": {wrongArrowhead{move: true}, "arrowhead slope, outer"},
	} {
		t.Run(name, func(t *testing.T) {
			p, x := curvedProblem(t, "huber", 3, 2, 1)
			wrong.Problem = p
			for seed := range uint64(4) { // and of the 40 first ones
				assert.Contains(t, brokenArrowhead(wrong.wrongArrowhead, x, seed), wrong.law, "seed %d", seed)
			}
		})
	}
}
