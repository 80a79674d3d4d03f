package scqm

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// fewBentRows are rows of a bent sheet in many columns.
func fewBentRows(n, D int) Data {
	x := Data{N: n, D: D, X: gaussians(9, n*D), Weights: make([]float64, n)}
	for i := range n {
		x.Weights[i] = 1 + float64(i%3)
		x.X[i*D] *= 6
		x.X[i*D+1] = 20 + x.X[i*D]*x.X[i*D]/8
	}
	return x
}

// A fit in some axes is stationary in all, as the problem with the whole matrix finds it, and is no higher than one that never left these.
func TestWidenedFits(t *testing.T) {
	const n, D = 12, 240
	x, loss := fewBentRows(n, D), correlated(t, D)
	for _, linear := range []bool{false, true} {
		c := Config{Loss: loss, Latent: 1, Curvature: FullCurvature, Threads: 1, Linear: linear, Ridge: DefaultRidge}
		require.True(t, widens(t, x, loss, c))
		fit, err := Learn(t.Context(), x, c)
		require.NoError(t, err)
		m := fit.Model
		require.NoError(t, m.Validate())
		assert.Same(t, loss, m.Loss)
		assert.Equal(t, D, m.Meta.D)
		assert.Equal(t, "converged", m.Meta.Status)

		p, err := NewProblem(t.Context(), x, loss, 1, m.Meta.Effective, 1)
		require.NoError(t, err)
		starts, err := p.newStarts(c, nil)
		require.NoError(t, err)
		cost, err := p.Evaluate(nil, fit.Run.Point)
		require.NoError(t, err)
		assert.InEpsilon(t, m.Meta.Objective+m.Meta.Penalty, cost, 1e-10)
		residuals := make([]float64, len(p.Blocks()))
		require.NoError(t, p.Stationarity(residuals, fit.Run.Point))
		for k, v := range residuals {
			assert.Less(t, v, 2*framework.DefaultTolerance, "block %d", k)
		}
		// Fewer terms are summed in the axes: the numbers there are the larger ones.
		assert.InDelta(t, residuals[BlockQ], fit.Run.Stationarity[BlockQ], framework.DefaultTolerance)
		kkt, err := p.KKT(fit.Run.Point)
		require.NoError(t, err)
		assert.InDelta(t, kkt.Q, m.Meta.KKT.Q, 1e-6*(1+kkt.Q))

		start, err := starts.point(0)
		require.NoError(t, err)
		plain, err := framework.Solve(t.Context(), p, start, solvers.LBFGS{}, framework.Options{})
		require.NoError(t, err)
		assert.LessOrEqual(t, cost, plain.Cost*(1+1e-9))
		for i, r := range fit.Run.History {
			assert.Equal(t, i, r.Iteration)
		}
		assert.Equal(t, m.Meta.Iterations, fit.Run.History[len(fit.Run.History)-1].Iteration)
	}
}

// widens reports whether a fit takes place in some axes.
func widens(t *testing.T, x Data, loss framework.Loss, c Config) bool {
	c.Loss, c.Latent = loss, 1
	r := request{data: x, loss: loss, config: &c, columns: curvatures{fitted: 1}}
	defer r.release()
	back, err := widenAxes{}.apply(&r)
	require.NoError(t, err)
	return back != nil
}

func TestWidensOnlyWhereItPays(t *testing.T) {
	const n, D = 12, 240
	x, loss := fewBentRows(n, D), correlated(t, D)
	assert.True(t, widens(t, x, loss, Config{Curvature: FullCurvature}))
	assert.True(t, widens(t, x, loss, Config{Curvature: FullCurvature, Solver: solvers.Alternating{}}))
	assert.False(t, widens(t, fewBentRows(90, D), loss, Config{Curvature: FullCurvature}), "many rows")
	assert.False(t, widens(t, x, loss, Config{}), "judged and fitted again")
	assert.False(t, widens(t, x, loss, Config{Curvature: FullCurvature, Inits: 2}), "turned once for many runs")
	assert.False(t, widens(t, x, loss, Config{Curvature: FullCurvature, Ridge: AutoRidge}))
	assert.False(t, widens(t, x, loss, Config{Curvature: FullCurvature, Solver: solvers.LBFGS{}}))
	assert.False(t, widens(t, x, loss, Config{Curvature: FullCurvature, Options: framework.Options{Checkpoint: &framework.Checkpoint{}}}))
	diagonal := mat.NewSymDense(D, nil)
	for j := range D {
		diagonal.SetSym(j, j, 1+float64(j))
	}
	alone, err := losses.Mahalanobis(diagonal)
	require.NoError(t, err)
	assert.False(t, widens(t, x, alone, Config{Curvature: FullCurvature}), "no rotation to save")
}

// Runs that end early are told as they are.
func TestWidenedFitsWithinLimits(t *testing.T) {
	const n, D = 12, 240
	x, loss := fewBentRows(n, D), correlated(t, D)
	for most := 1; most < 40; most += 6 {
		fit, err := Learn(t.Context(), x, Config{Loss: loss, Latent: 1, Curvature: FullCurvature, Threads: 1, Options: framework.Options{MaxIterations: most}})
		require.NoError(t, err)
		assert.LessOrEqual(t, fit.Model.Meta.Iterations, most)
		if fit.Model.Meta.Status != "converged" {
			assert.Equal(t, "max_iter", fit.Model.Meta.Status)
			assert.Equal(t, most, fit.Model.Meta.Iterations)
		} else {
			assert.LessOrEqual(t, floats.Max(fit.Model.Meta.Stationarity), framework.DefaultTolerance)
		}
		assert.False(t, floats.HasNaN(fit.Model.C))
	}
	fit, err := Learn(t.Context(), x, Config{Loss: loss, Latent: 1, Curvature: FullCurvature, Threads: 1, Options: framework.Options{TimeLimit: time.Nanosecond}})
	require.NoError(t, err)
	assert.NotEqual(t, "converged", fit.Model.Meta.Status)
}
