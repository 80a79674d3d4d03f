package solvers_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/solvers"
)

// Steps along t^4 - 3 t^2 - t, from 0, satisfy the conditions that are promised.
func TestLineSearches(t *testing.T) {
	curve := func(t float64, _ bool) (float64, float64, error) {
		return t*t*t*t - 3*t*t - t, 4*t*t*t - 6*t - 1, nil
	}
	for _, first := range []float64{1e-6, 0.1, 1, 3, 1e4} {
		for _, search := range []framework.LineSearch{solvers.Armijo{}, solvers.HagerZhang{}, solvers.StrongWolfe{C2: 0.1}} {
			step, err := search.Search(curve, 0, -1, first)
			require.NoError(t, err)
			require.Positive(t, step)
			cost, slope, _ := curve(step, true)
			assert.LessOrEqual(t, cost, -1e-4*step, "%T from %g", search, first)
			switch search.(type) {
			case solvers.HagerZhang:
				assert.GreaterOrEqual(t, slope, -0.9, "from %g", first)
			case solvers.StrongWolfe:
				assert.LessOrEqual(t, math.Abs(slope), 0.1, "from %g", first)
			}
		}
	}
}

// golden is a line search of somebody else.
type golden struct{}

func (golden) Search(at func(float64, bool) (float64, float64, error), cost, slope, first float64) (float64, error) {
	best, step := cost, 0.0
	for t := 4 * first; t > 1e-12*first; t /= 2 {
		now, _, err := at(t, false)
		if err != nil {
			return 0, err
		}
		if now >= best && step > 0 {
			break
		}
		if now < best {
			best, step = now, t
		}
	}
	return step, nil
}

// A solver keeps its laws with any line search.
func TestSolversTakeLineSearches(t *testing.T) {
	for _, s := range []framework.Solver{
		solvers.LBFGS{Search: solvers.Armijo{}}, solvers.LBFGS{Search: solvers.StrongWolfe{}},
		solvers.ConjugateGradient{Search: solvers.StrongWolfe{C2: 0.2}},
	} {
		frameworktest.TestSolver(t, s, frameworktest.SolverOptions{})
	}
	for _, s := range []framework.Solver{solvers.LBFGS{Search: golden{}}, solvers.ConjugateGradient{Search: golden{}}} {
		res := run(t, ladder(5, 100, 1, 0), framework.Point{make([]float64, 5)}, s, framework.Options{Tolerance: 1e-6})
		assert.Equal(t, framework.Converged, res.Status, res.Message)
	}
}
