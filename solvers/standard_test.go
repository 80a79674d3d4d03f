package solvers_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/internal/standard"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/solvers"
)

// TestStandardProblems runs solvers to gradients of 1e-6 and 1e-8 and logs the passes.
// What the choice of [solvers.Auto] takes in sum is less than trust regions do, and less
// than those of pymanopt 2.2.1 on the same problems: 4493.
func TestStandardProblems(t *testing.T) {
	reached, sum := map[string][2]int{}, map[string]float64{}
	for _, p := range standard.Problems(standard.Small) {
		line := fmt.Sprintf("%-22s", p.Name)
		for _, s := range []framework.Solver{solvers.Auto(p.Problem()), solvers.TrustRegion{}, solvers.ConjugateGradient{}} {
			res := run(t, p.Problem(), p.Start, s, framework.Options{MaxIterations: 5000, Tolerance: 1e-8, GradientUnit: 1})
			g := 0.
			for _, v := range res.Stationarity {
				g = math.Max(g, v)
			}
			n := reached[s.Name()]
			if g <= 1e-6 {
				n[0]++
			}
			if g <= 1e-8 {
				n[1]++
			}
			reached[s.Name()] = n
			sum[s.Name()] += res.Counts.Passes
			line += fmt.Sprintf(" | %s %6.0f (%d Hv) %.0e %v", s.Name(), res.Counts.Passes, res.Counts.Hessians, g, res.Status)
		}
		t.Log(line)
	}
	t.Log(reached, sum)
	assert.Equal(t, [2]int{25, 25}, reached["trust_region"])
	assert.Equal(t, [2]int{25, 25}, reached["lbfgs"])
	assert.GreaterOrEqual(t, reached["cg"][1], 23)
	assert.Less(t, sum["lbfgs"], sum["trust_region"])
	assert.Less(t, sum["lbfgs"], 4493.)
	assert.Less(t, sum["trust_region"], 4493.) // 6080 with residuals of |g|^2/|g_0|
}

// Far from a minimum, where curvatures are negative, at most 2.2 times the passes of
// pymanopt 2.2.1's trust regions, which take fewest there.
func TestNegativeCurvature(t *testing.T) {
	for name, best := range map[string]float64{"robust PCA": 62, "ICA": 40, "rotation synchronisation": 105} {
		p := standard.New(name, standard.Full)
		res := run(t, p.Problem(), p.Start, solvers.LBFGS{}, framework.Options{Tolerance: 1e-8, GradientUnit: 1})
		assert.Equal(t, framework.Converged, res.Status, name)
		assert.LessOrEqual(t, res.Counts.Passes, 2.2*best, name)
	}
}

// A run that ends where the solver's gradient is small evaluates that point once more, to
// certify it.
func TestEndIsEvaluatedOnce(t *testing.T) {
	p := struct{ framework.Problem }{standard.New("PCA", standard.Small)} // no Resumer
	res := run(t, p, standard.New("PCA", standard.Small).Start, solvers.LBFGS{}, framework.Options{})
	assert.Equal(t, framework.Converged, res.Status)
	assert.InDelta(t, 2*res.Counts.Evaluations+3, res.Counts.Passes, 0, "and a cost beside the start")
}

// manyRows is a problem with second derivatives, for so many rows that coupling them with
// the outer blocks takes more than sweeps do.
type manyRows struct {
	latent.ArrowheadHessian
	leash
	rows int
}

func (p *manyRows) ArrowheadShape() (latent.ArrowheadShape, bool) {
	return latent.ArrowheadShape{Block: 1, Outer: 50, Rows: p.rows, Dim: 2}, true
}

// Auto leaves second derivatives of many rows.
func TestAutoCountsRows(t *testing.T) {
	assert.Equal(t, "newton", solvers.Auto(&manyRows{rows: 10000}).Name())
	assert.Equal(t, "alternating", solvers.Auto(&manyRows{rows: 11000}).Name())
}

// manyNumbers is a problem without structure.
type manyNumbers struct {
	framework.Problem
	size int
}

func (p manyNumbers) Blocks() []framework.Block {
	return []framework.Block{{Name: "y", Manifold: manifolds.Euclidean(p.size)}}
}

// Auto keeps fewer pairs of long points.
func TestAutoCountsPairs(t *testing.T) {
	for size, pairs := range map[int]int{100: 0, 100_000: 0, 200_000: 10, 5_000_000: 5} {
		inner := solvers.Auto(manyNumbers{size: size}).(solvers.Continuation).Inner
		assert.Equal(t, solvers.LBFGS{Memory: pairs}, inner, size)
	}
}

// Auto takes what the problem offers, and only that.
func TestAutoChoosesByCapabilities(t *testing.T) {
	for name, c := range map[string]struct {
		p    framework.Problem
		want string
	}{
		"arrowhead": {lineCase().New(), "newton"},
		"sweeps":    {&leash{}, "alternating"},
		"gradients": {standard.New("eigenvector", standard.Small).FirstOrder(), "lbfgs"},
		"Hessian":   {standard.New("unlike blocks", standard.Small).Problem(), "lbfgs"},
	} {
		assert.Equal(t, c.want, solvers.Auto(c.p).Name(), name)
		assert.Contains(t, solvers.Serving(c.p), c.want, name)
	}
}
