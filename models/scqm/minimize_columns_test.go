package scqm

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/solvers"
)

// The run without the columns in which all rows are the same is the run with them. Powers above 2 reach into
// these columns, and their runs begin at about the same cost. Under r'Mr with a diagonal M sweeps are compared.
func TestConstantColumnsChangeNothing(t *testing.T) {
	x := digits(t, 30, "4", "9")
	for i := range x.N {
		x.X[i*x.D+3] = -2.5
	}
	for _, name := range []string{"l1", "lp 1.5"} {
		p, start := begin(t, x, named(t, name, x.D), 2, 3, 1)
		require.True(t, p.dropsColumns(), name)
		o := framework.Options{MaxIterations: 6, MinRelativeDecrease: -1, Tolerance: -1}
		solver := solvers.Continuation{Inner: solvers.LBFGS{}}
		whole, err := framework.Solve(context.Background(), p, start, solver, o)
		require.NoError(t, err)
		run, err := p.minimize(context.Background(), start, solver, o)
		require.NoError(t, err)
		require.Len(t, run.History, len(whole.History))
		for i, r := range whole.History {
			assert.InEpsilon(t, r.Cost, run.History[i].Cost, 1e-8, "%s, iteration %d", name, i)
		}
		assert.True(t, floats.EqualApprox(whole.Point[BlockQ], run.Point[BlockQ], 1e-4), name)
		assert.InDelta(t, -2.5, run.Point[BlockC][3], 1e-12)
		assert.Less(t, p.Blocks()[BlockQ].Violation(run.Point[BlockQ]), 1e-12)
	}
}

func TestConstantColumnsOfDiagonalForms(t *testing.T) {
	x := digits(t, 30, "4", "9")
	for i := range x.N {
		x.X[i*x.D+3] = -2.5
	}
	diagonal := make([]float64, x.D)
	for j := range diagonal {
		diagonal[j] = 0.2 + float64(j%9)/2
	}
	loss, err := losses.Mahalanobis(mat.NewDiagDense(x.D, diagonal))
	require.NoError(t, err)
	m := &dense.Tridiagonal{Diagonal: diagonal, Off: make([]float64, x.D-1)}
	p, start := begin(t, x, nearest.NewTridiagonalForm(m, loss), 2, 3, 1)
	require.True(t, p.dropsColumns())
	other, _, _, err := p.varying(start)
	require.NoError(t, err)
	require.Less(t, other.Shape().D, 600)
	o := framework.Options{MaxIterations: 20, MinRelativeDecrease: -1, Tolerance: -1}
	whole, err := framework.Solve(t.Context(), p, start, solvers.Alternating{}, o)
	require.NoError(t, err)
	run, err := p.minimize(t.Context(), start, solvers.Alternating{}, o)
	require.NoError(t, err)
	require.Len(t, run.History, len(whole.History))
	for i, r := range whole.History {
		assert.InEpsilon(t, r.Cost, run.History[i].Cost, 1e-9, "iteration %d", i)
	}
	assert.True(t, floats.EqualApprox(whole.Point[BlockQ], run.Point[BlockQ], 1e-5))
	assert.InDelta(t, -2.5, run.Point[BlockC][3], 1e-12)
	cost, err := p.Evaluate(nil, run.Point)
	require.NoError(t, err)
	assert.InEpsilon(t, run.Cost, cost, 1e-12)

	m.Off[7] = 0.01
	assert.False(t, p.dropsColumns(), "entries of residuals do not add up")
}

func TestColumnsAreDroppedOnlyWhereNothingIsLost(t *testing.T) {
	x := Data{N: 30, D: 12, X: gaussians(1, 360)}
	p, _ := begin(t, x, losses.L1(), 2, 3, 1)
	assert.False(t, p.dropsColumns(), "Newton's method sees second derivatives")
	wide := digits(t, 30, "4", "9")
	p, start := begin(t, wide, losses.L2(), 2, 3, 1)
	assert.False(t, p.dropsColumns(), "not a sum over entries")
	p, _ = begin(t, wide, losses.L1(), 2, 3, 1)
	const middle = 14*28 + 14 // which varies, and column 0 does not
	q, m := start[BlockQ], p.Shape().M
	copy(q[:m], q[middle*m:(middle+1)*m])
	clear(q[middle*m : (middle+1)*m])
	other, _, _, err := p.varying(start)
	require.NoError(t, err)
	assert.Nil(t, other, "a start that uses these columns")
	p, _ = begin(t, wide, named(t, "lp 3", wide.D), 2, 3, 1)
	assert.False(t, p.dropsColumns(), "grows faster than squares")
}

// Fits under |r|^p with p > 2 end where the whole problem, with columns in which all rows are the same, has no slope.
func TestCubesKeepConstantColumns(t *testing.T) {
	x := digits(t, 60, "4", "9")
	loss := named(t, "lp 3", x.D)
	fit := learn(t, x, Config{Latent: 2, Loss: loss})
	assert.Equal(t, framework.Converged, fit.Run.Status)

	p, err := NewProblem(context.Background(), x, loss, 2, 3, 1)
	require.NoError(t, err)
	p.Lambda = 1
	p.Lambda = fit.Model.Meta.Penalty / p.Penalty(nil, fit.Run.Point[BlockTheta])
	stationarity := make([]float64, len(p.Blocks()))
	require.NoError(t, p.Stationarity(stationarity, fit.Run.Point))
	assert.LessOrEqual(t, floats.Max(stationarity), 1e-6)
	assert.Less(t, p.Blocks()[BlockQ].Violation(fit.Run.Point[BlockQ]), 1e-12)
}
