package standard_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/optimize/functions"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/solvers"
)

// function is a test function of gonum with its start.
type function struct {
	name string
	f    interface {
		Func(x []float64) float64
		Grad(grad, x []float64)
	}
	start []float64
}

func (p function) Blocks() []framework.Block {
	return []framework.Block{{Name: "x", Manifold: manifolds.Euclidean(len(p.start))}}
}

func (p function) Evaluate(grad, x framework.Point) (float64, error) {
	if grad != nil {
		p.f.Grad(grad[0], x[0])
	}
	return p.f.Func(x[0]), nil
}

// functionsOfGonum are those of the tests of gonum's optimize, with the starts there.
var functionsOfGonum = []function{
	{"Beale", functions.Beale{}, []float64{1, 1}},
	{"BiggsEXP2", functions.BiggsEXP2{}, []float64{1, 2}},
	{"BiggsEXP3", functions.BiggsEXP3{}, []float64{1, 2, 1}},
	{"BiggsEXP4", functions.BiggsEXP4{}, []float64{1, 2, 1, 1}},
	{"BiggsEXP5", functions.BiggsEXP5{}, []float64{1, 2, 1, 1, 1}},
	{"BiggsEXP6", functions.BiggsEXP6{}, []float64{1, 2, 1, 1, 1, 1}},
	{"Box3D", functions.Box3D{}, []float64{0, 10, 20}},
	{"BrownBadlyScaled", functions.BrownBadlyScaled{}, []float64{1, 1}},
	{"BrownAndDennis", functions.BrownAndDennis{}, []float64{25, 5, -5, -1}},
	{"ExtendedPowellSingular", functions.ExtendedPowellSingular{}, []float64{3, -1, 0, 3, 3, -1, 0, 3}},
	{"ExtendedRosenbrock", functions.ExtendedRosenbrock{}, []float64{-1.2, 1}},
	{"ExtendedRosenbrock 4", functions.ExtendedRosenbrock{}, []float64{-1.2, 1, -1.2, 1}},
	{"Gaussian", functions.Gaussian{}, []float64{0.4, 1, 0}},
	{"GulfResearch", functions.GulfResearchAndDevelopment{}, []float64{5, 2.5, 0.15}},
	{"HelicalValley", functions.HelicalValley{}, []float64{-1, 0, 0}},
	{"PenaltyI", functions.PenaltyI{}, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
	{"PenaltyII", functions.PenaltyII{}, []float64{0.5, 0.5, 0.5, 0.5}},
	{"PowellBadlyScaled", functions.PowellBadlyScaled{}, []float64{0, 1}},
	{"Trigonometric", functions.Trigonometric{}, []float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}},
	{"VariablyDimensioned", functions.VariablyDimensioned{}, []float64{0.5, 0, -0.5, -1, -1.5}},
	{"Watson", functions.Watson{}, []float64{0, 0, 0, 0, 0, 0}},
	{"Wood", functions.Wood{}, []float64{-3, -1, -3, -1}},
}

// TestFunctionsOfGonum compares evaluations to a gradient of 1e-6, in its largest entry,
// with those of gonum's L-BFGS.
func TestFunctionsOfGonum(t *testing.T) {
	var ours, theirs, missed int
	for _, p := range functionsOfGonum {
		evaluations, gradient := gonum(p)
		res, err := framework.Solve(context.Background(), p, framework.Point{p.start}, solvers.Auto(p), framework.Options{MaxIterations: 5000, Tolerance: 1e-6, GradientUnit: 1})
		require.NoError(t, err)
		t.Logf("%-24s ours %4d %.1e %-9v gonum %4d %.1e", p.name, res.Counts.Evaluations, res.Stationarity[0], res.Status, evaluations, gradient)
		assert.LessOrEqual(t, res.Stationarity[0], 1e-6, p.name)
		ours, theirs = ours+res.Counts.Evaluations, theirs+evaluations
		if !(gradient <= 1e-6) {
			missed++
		}
	}
	t.Logf("evaluations in sum: ours %d, gonum %d, which misses %d", ours, theirs, missed)
	assert.LessOrEqual(t, ours, theirs)
}

func gonum(p function) (evaluations int, gradient float64) {
	problem := optimize.Problem{Func: p.f.Func, Grad: p.f.Grad}
	res, _ := optimize.Minimize(problem, p.start, &optimize.Settings{
		GradientThreshold: 1e-6, Converger: optimize.NeverTerminate{}, MajorIterations: 5000,
	}, &optimize.LBFGS{})
	if res == nil {
		return 0, math.NaN()
	}
	g := make([]float64, len(p.start))
	p.f.Grad(g, res.X)
	return res.FuncEvaluations, floats.Norm(g, math.Inf(1))
}
