package scqm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/solvers"
)

// correlated returns a loss r'Mr whose M has no structure.
func correlated(t testing.TB, D int) framework.Loss {
	t.Helper()
	m := mat.NewSymDense(D, nil)
	m.SymOuterK(1/float64(D), mat.NewDense(D, D, gaussians(8, D*D)))
	for j := range D {
		m.SetSym(j, j, m.At(j, j)+0.5)
	}
	loss, err := losses.Mahalanobis(m)
	require.NoError(t, err)
	return loss
}

// In the axes of the loss cost, gradients and nearest points are what they are outside.
func TestRotationLosesNothing(t *testing.T) {
	const n, D = 60, 32
	x := Data{N: n, D: D, X: gaussians(9, n*D), Weights: make([]float64, n)}
	for i := range n {
		x.Weights[i] = 1 + float64(i%3)
		x.X[i*D] *= 4
		x.X[i*D+1] = 20 + x.X[i*D]*x.X[i*D]/8
	}
	p, start := begin(t, x, correlated(t, D), 2, 3, 1)
	p.Lambda = 0.01
	p.SolveTheta(start)
	f, values, turnedRows := rows.NewRotation(x, p.Loss().(framework.Quadratic).Matrix())
	q, err := NewProblem(t.Context(), turnedRows, &nearest.DiagonalForm{Values: values, Of: p.Loss()}, 2, 3, 1)
	require.NoError(t, err)
	q.Lambda = p.Lambda
	at := start.Clone()
	f.ShrinkPoint(at[BlockC], start[BlockC])
	axes := make([]float64, len(at[BlockQ])) // as rows, about the mean
	dense.Transpose(axes, start[BlockQ], D, p.Shape().M)
	origin := make([]float64, D)
	f.ExpandPoint(origin, make([]float64, D))
	for k := 0; k < len(axes); k += D {
		floats.Add(axes[k:k+D], origin)
	}
	f.ShrinkPoint(axes, axes)
	dense.Transpose(at[BlockQ], axes, p.Shape().M, D)

	back := func(y framework.Point) framework.Point { return expandPoint(f, y, f.D, len(y[BlockQ])/f.D) }
	grad, turned := framework.NewPoint(p.Blocks()), framework.NewPoint(p.Blocks())
	want, err := p.Evaluate(grad, start)
	require.NoError(t, err)
	got, err := q.Evaluate(turned, at)
	require.NoError(t, err)
	assert.InEpsilon(t, want, got, 1e-12)
	assert.True(t, floats.EqualApprox(start[BlockC], back(at)[BlockC], 1e-10))
	same := func(want, got framework.Point, what string) {
		moved := back(got)
		f.ExpandPoint(moved[BlockC], make([]float64, D)) // a gradient has no mean in it
		floats.Scale(-1, moved[BlockC])
		floats.Add(moved[BlockC], back(got)[BlockC])
		for k := range want {
			assert.True(t, floats.EqualApprox(want[k], moved[k], 1e-8*(1+floats.Norm(want[k], 2))), "%s, block %d", what, k)
		}
	}
	same(grad, turned, "gradient")

	far := start.Clone()
	for i := range far[BlockTau] {
		far[BlockTau][i] += 3
	}
	at[BlockTau] = append([]float64(nil), far[BlockTau]...)
	moved, _, err := p.Objective.Reassign(far)
	require.NoError(t, err)
	require.True(t, moved)
	_, _, err = q.Objective.Reassign(at)
	require.NoError(t, err)
	assert.True(t, floats.EqualApprox(far[BlockTau], at[BlockTau], 1e-6))
}

// A fit of turned rows is that of the rows: its model, its point and its objective are in their
// coordinates, and the model is in canonical form there.
func TestTurnedFits(t *testing.T) {
	const n, D = 60, 32
	x := Data{N: n, D: D, X: gaussians(9, n*D)}
	for i := range n {
		x.X[i*D] *= 4
		x.X[i*D+1] = 20 + x.X[i*D]*x.X[i*D]/8
	}
	loss := correlated(t, D)
	fit, err := Learn(t.Context(), x, Config{Loss: loss, Latent: 1, Threads: 1})
	require.NoError(t, err)
	m := fit.Model
	require.NoError(t, m.Validate())
	assert.Same(t, loss, m.Loss)
	assert.Equal(t, "alternating", m.Meta.Solver)
	assert.Equal(t, "converged", m.Meta.Status)
	at, err := m.Reconstruct(t.Context(), m.Tau, 1)
	require.NoError(t, err)
	floats.Sub(at, x.X)
	values := make([]float64, n)
	require.NoError(t, loss.Evaluate(values, nil, at, D))
	assert.InEpsilon(t, floats.Sum(values), m.Meta.Objective, 1e-12)
	p, err := NewProblem(t.Context(), x, loss, 1, 1, 1)
	require.NoError(t, err)
	p.Lambda = 0
	cost, err := p.Evaluate(nil, fit.Run.Point)
	require.NoError(t, err)
	assert.InEpsilon(t, m.Meta.Objective, cost, 1e-12)
	plain, err := Learn(t.Context(), x, Config{Loss: loss, Latent: 1, Threads: 1, Solver: solvers.LBFGS{}})
	require.NoError(t, err)
	assert.InEpsilon(t, plain.Model.Meta.Objective, m.Meta.Objective, 1e-8)
	assert.True(t, floats.EqualApprox(plain.Model.U, m.U, 1e-4))
	assert.Positive(t, m.U[floats.MaxIdx(abs(m.U))])
}

func abs(x []float64) []float64 {
	y := make([]float64, len(x))
	dense.Magnitudes(y, x)
	return y
}

func TestTurnsFormsOnly(t *testing.T) {
	turns := func(D, n int, loss framework.Loss, c Config) bool {
		c.Loss, c.Latent = loss, 2
		r := request{data: Data{N: n, D: D, X: gaussians(1, n*D)}, loss: loss, config: &c}
		defer r.release()
		_, err := r.turnRows()
		require.NoError(t, err)
		return r.config != &c
	}
	assert.True(t, turns(40, 40, correlated(t, 40), Config{}))
	assert.False(t, turns(40, 40, correlated(t, 40), Config{Solver: solvers.RGD{}}), "the published solver is left as it is")
	assert.False(t, turns(40, 40, losses.L1(), Config{}), "not a form of the residuals")
}

// Far from the origin c is rounded by more than the tolerance when a fit is rotated back: it is not called converged.
func TestRotatedFitsAreCertifiedAsTheyAre(t *testing.T) {
	loss := correlated(t, 5)
	for _, offset := range []float64{0, 1e11} {
		x := noisyParaboloid(rand.New(rand.NewPCG(7, 81)), 5, 2, 60)
		for i := range x.X {
			x.X[i] += offset
		}
		fit, err := Learn(t.Context(), x, Config{Latent: 2, Curvature: FullCurvature, Loss: loss, Ridge: 0.01})
		require.NoError(t, err)
		p, err := NewProblem(t.Context(), x, loss, 2, fit.Model.Curvature, 1)
		require.NoError(t, err)
		p.Lambda = fit.Model.lambda()
		found := make([]float64, 4)
		require.NoError(t, p.Stationarity(found, fit.Run.Point))
		within := slices.Max(found) <= framework.DefaultTolerance
		assert.Equal(t, offset == 0, within, "offset %g: %v", offset, found)
		assert.Equal(t, within, fit.Run.Status == framework.Converged, "offset %g: %s", offset, fit.Run.Message)
	}
}
