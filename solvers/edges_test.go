package solvers_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/solvers"
)

// plain is a cost on R^n and its gradient, no more.
type plain struct {
	n    int
	cost func(g, x []float64) float64
}

func (p plain) Blocks() []framework.Block {
	return []framework.Block{{Name: "x", Manifold: manifolds.Euclidean(p.n)}}
}

func (p plain) Evaluate(grad, x framework.Point) (float64, error) {
	g := make([]float64, p.n)
	cost := p.cost(g, x[0])
	if grad != nil {
		copy(grad[0], g)
	}
	return cost, nil
}

// ladder has curvatures from 1 to the condition given.
func ladder(n int, condition, unit, base float64) plain {
	return plain{n, func(g, x []float64) float64 {
		sum := 0.0
		for i, v := range x {
			w, d := math.Pow(condition, float64(i)/float64(n-1)), v-1
			sum += w*d*d/2 + d*d*d*d/4
			g[i] = unit * (w*d + d*d*d)
		}
		return unit*sum + base
	}}
}

// Where quasi-Newton steps crawl, the choice of Auto takes Newton steps by differences of gradients, and
// fewer evaluations than without them, or than trust regions take.
func TestAutoOnIllConditionedCosts(t *testing.T) {
	p := ladder(200, 1e6, 1, 0)
	solve := func(s framework.Solver) *framework.Result {
		res := run(t, p, framework.NewPoint(p.Blocks()), s, framework.Options{})
		assert.Equal(t, framework.Converged, res.Status, res.Message)
		assert.Less(t, res.Cost, 1e-4)
		return res
	}
	evaluations := solve(solvers.Auto(p)).Counts.Evaluations
	assert.Less(t, evaluations, solve(solvers.LBFGS{FirstOrder: true}).Counts.Evaluations)
	assert.Less(t, evaluations, solve(solvers.TrustRegion{}).Counts.Evaluations)
}

// smooth are the solvers of any smooth cost.
var smooth = []framework.Solver{
	solvers.LBFGS{}, solvers.ConjugateGradient{}, solvers.TrustRegion{}, solvers.RGD{}, solvers.Continuation{Finish: true},
}

// A run is the same for c f + b.
func TestUnitOfTheCost(t *testing.T) {
	for _, s := range smooth {
		want := run(t, ladder(5, 100, 1, 0), framework.Point{make([]float64, 5)}, s, framework.Options{})
		require.Equal(t, framework.Converged, want.Status)
		for _, c := range []float64{0x1p-830, 0x1p-40, 0x1p40, 0x1p830} { // exact multiples
			res := run(t, ladder(5, 100, c, 0), framework.Point{make([]float64, 5)}, s, framework.Options{})
			assert.Equal(t, want.Status, res.Status, "%s, %g: %s", s.Name(), c, res.Message)
			assert.Equal(t, want.Iterations, res.Iterations, "%s, %g", s.Name(), c)
			assert.Equal(t, want.Point, res.Point, "%s, %g", s.Name(), c)
			assert.Equal(t, c*want.Cost, res.Cost)
			assert.Equal(t, c*want.History[1].Cost, res.History[1].Cost)
		}
		for _, b := range []float64{-1e3, 1e3} {
			res := run(t, ladder(5, 100, 1, b), framework.Point{make([]float64, 5)}, s, framework.Options{})
			assert.Equal(t, framework.Converged, res.Status, "%s + %g: %s", s.Name(), b, res.Message)
			assert.InDelta(t, want.Point[0][4], res.Point[0][4], 1e-6, "%s + %g", s.Name(), b)
		}
	}
}

// A start that is already a minimum, to rounding, is converged.
func TestStartAtTheMinimum(t *testing.T) {
	for _, s := range smooth {
		p := ladder(5, 100, 1, 7)
		first := run(t, p, framework.Point{make([]float64, 5)}, s, framework.Options{Tolerance: 1e-14})
		again := run(t, p, first.Point, s, framework.Options{})
		assert.Equal(t, framework.Converged, again.Status, "%s: %s", s.Name(), again.Message)
		assert.LessOrEqual(t, again.Counts.Evaluations, 1000, s.Name())
	}
}

// Nothing bounds these costs from below.
func TestUnboundedCosts(t *testing.T) {
	for name, cost := range map[string]func(g, x []float64) float64{
		"linear": func(g, x []float64) float64 { g[0], g[1] = 1, -2; return x[0] - 2*x[1] },
		"saddle": func(g, x []float64) float64 {
			g[0], g[1] = 2*x[0], -2*x[1]
			return x[0]*x[0] - x[1]*x[1]
		},
		"cubic": func(g, x []float64) float64 {
			g[0], g[1] = 3*x[0]*x[0], 2*x[1]
			return x[0]*x[0]*x[0] + x[1]*x[1]
		},
		"exponential": func(g, x []float64) float64 {
			g[0], g[1] = -math.Exp(x[0]), 2*x[1]
			return x[1]*x[1] - math.Exp(x[0])
		},
	} {
		for _, s := range smooth {
			res, err := framework.Solve(t.Context(), plain{2, cost}, framework.Point{{-0.5, 0.25}}, s, framework.Options{})
			require.NotNil(t, res, "%s, %s: %v", s.Name(), name, err)
			assert.Equal(t, framework.Unbounded, res.Status, "%s, %s: %v", s.Name(), name, res.Message)
			assert.Contains(t, res.Message, "nothing bounds it from below", "%s, %s", s.Name(), name)
			assert.Less(t, res.Counts.Evaluations, 10000, "%s, %s", s.Name(), name)
		}
	}
}

// Wrong gradients are named.
func TestWrongGradients(t *testing.T) {
	right := ladder(4, 10, 1, 0)
	for want, wrong := range map[string]func(g []float64){
		"has the wrong sign": func(g []float64) {
			for i := range g {
				g[i] = -g[i]
			}
		},
		"is 2 times": func(g []float64) {
			for i := range g {
				g[i] *= 2
			}
		},
		"is 0.1 times": func(g []float64) {
			for i := range g {
				g[i] /= 10
			}
		},
		"it is 0 where":            func(g []float64) { clear(g) },
		"of the cost":              func(g []float64) { g[2] = 0.1 },
		"is not written, or added": func(g []float64) { g[1] = math.NaN() },
	} {
		p := plain{4, func(g, x []float64) float64 {
			cost := right.cost(g, x)
			wrong(g)
			return cost
		}}
		for _, s := range smooth {
			res, err := framework.Solve(t.Context(), p, framework.Point{make([]float64, 4)}, s, framework.Options{})
			if want == "is not written, or added" {
				assert.Error(t, err, s.Name())
				continue
			}
			require.NoError(t, err, s.Name())
			assert.Contains(t, res.Message, "the gradient", s.Name())
			assert.Contains(t, res.Message, want, s.Name())
			assert.NotEqual(t, framework.Converged, res.Status, s.Name())
		}
	}
	never := struct{ framework.Problem }{unwritten{right}}
	for _, s := range smooth {
		_, err := framework.Solve(t.Context(), never, framework.Point{make([]float64, 4)}, s, framework.Options{})
		assert.ErrorIs(t, err, framework.ErrInvalid, s.Name())
		assert.ErrorContains(t, err, "entry 0 of the gradient of block x is not written", s.Name())
	}
}

// unwritten never writes a gradient.
type unwritten struct{ plain }

func (p unwritten) Evaluate(_, x framework.Point) (float64, error) { return p.plain.Evaluate(nil, x) }

// What cannot be run is refused as invalid, before anything is evaluated.
func TestRefusals(t *testing.T) {
	start, ctx := framework.Point{make([]float64, 4)}, t.Context()
	for _, s := range []framework.Solver{
		nil, solvers.LBFGS{Memory: -3}, solvers.RGD{MaxBacktracks: -1}, solvers.Continuation{Inner: solvers.LBFGS{Memory: -1}},
	} {
		res, err := framework.Solve(ctx, ladder(4, 10, 1, 0), start, s, framework.Options{})
		assert.Nil(t, res)
		assert.ErrorIs(t, err, framework.ErrInvalid, "%#v", s)
		assert.NotErrorIs(t, err, framework.ErrPanic)
	}
	one := framework.Block{Name: "a", Manifold: manifolds.Euclidean(2)}
	for _, blocks := range [][]framework.Block{nil, {{Name: "x"}}, {one, one}} {
		p := shaped{ladder(4, 10, 1, 0), blocks}
		_, err := framework.Solve(ctx, p, start, solvers.LBFGS{}, framework.Options{})
		assert.ErrorIs(t, err, framework.ErrInvalid, blocks)
	}
	assert.NotPanics(t, func() { solvers.Auto(shaped{}); solvers.Auto(nil) })
	_, err := framework.Solve(ctx, nil, start, solvers.LBFGS{}, framework.Options{})
	assert.ErrorIs(t, err, framework.ErrInvalid)
	var none context.Context
	_, err = framework.Solve(none, ladder(4, 10, 1, 0), start, solvers.LBFGS{}, framework.Options{})
	assert.ErrorIs(t, err, framework.ErrInvalid)
}

type shaped struct {
	plain
	blocks []framework.Block
}

func (p shaped) Blocks() []framework.Block { return p.blocks }

// A kink at which a run ends is neither a failure nor a wrong gradient.
func TestKinksAreNoMistakes(t *testing.T) {
	p := plain{2, func(g, x []float64) float64 {
		g[0], g[1] = math.Copysign(1, x[0]), 3*math.Copysign(1, x[1]-0.1)
		return math.Abs(x[0]) + 3*math.Abs(x[1]-0.1)
	}}
	for _, s := range smooth {
		for _, start := range []framework.Point{{{1, 0.7}}, {{0, 0.7}}, {{0, 0.1}}} {
			res := run(t, p, start, s, framework.Options{})
			assert.Contains(t, []framework.Status{framework.Stalled, framework.MaxIterations}, res.Status, s.Name())
			assert.NotContains(t, res.Message, "the gradient", "%s from %v", s.Name(), start)
		}
	}
}
