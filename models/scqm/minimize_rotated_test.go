package scqm

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
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

// In the axes of the loss everything is what it is outside: cost, gradients, preconditioner,
// nearest points, and the runs of solvers.
func TestRotationLosesNothing(t *testing.T) {
	const n, D = 60, rotatedColumns
	x := Data{N: n, D: D, X: gaussians(9, n*D), Weights: make([]float64, n)}
	for i := range n {
		x.Weights[i] = 1 + float64(i%3)
		x.X[i*D] *= 4
		x.X[i*D+1] = 20 + x.X[i*D]*x.X[i*D]/8
	}
	p, start := begin(t, x, correlated(t, D), 2, 3, 1)
	p.Lambda = 0.01
	p.SolveTheta(start)
	require.True(t, p.rotates())
	q, at, f, err := p.rotate(start)
	require.NoError(t, err)

	back := func(y framework.Point) framework.Point { return expandPoint(f, y, p.Shape().M) }
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

	passes, err := p.BuildPreconditioner(start)
	require.NoError(t, err)
	others, err := q.BuildPreconditioner(at)
	require.NoError(t, err)
	assert.Equal(t, passes, others)
	p.Precondition(grad, grad.Clone())
	q.Precondition(turned, turned.Clone())
	same(grad, turned, "preconditioned")

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

	for _, solver := range []framework.Solver{solvers.LBFGS{}, solvers.Alternating{}} {
		o := framework.Options{MaxIterations: 10, MinRelativeDecrease: -1, Tolerance: -1}
		whole, err := framework.Solve(context.Background(), p, start, solver, o)
		require.NoError(t, err)
		run, err := p.minimize(context.Background(), start, solver, o)
		require.NoError(t, err)
		require.Len(t, run.History, len(whole.History))
		for i, r := range whole.History {
			assert.InEpsilon(t, r.Cost, run.History[i].Cost, 1e-7, "%s, iteration %d", solver.Name(), i)
		}
		assert.True(t, floats.EqualApprox(whole.Point[BlockQ], run.Point[BlockQ], 1e-4), solver.Name())
		assert.Less(t, p.Blocks()[BlockQ].Violation(run.Point[BlockQ]), 1e-12)
	}
}

func TestRotationOnlyWhereItPays(t *testing.T) {
	x := Data{N: 40, D: 40, X: gaussians(1, 1600)}
	p, _ := begin(t, x, correlated(t, 40), 2, 3, 1)
	assert.True(t, p.rotates())
	p.published = true
	assert.False(t, p.rotates(), "the published solver is left as it is")
	p, _ = begin(t, x, losses.L1(), 2, 3, 1)
	assert.False(t, p.rotates(), "not a form of the residuals")
	x.D, x.N = 10, 160
	p, _ = begin(t, x, correlated(t, 10), 2, 3, 1)
	assert.False(t, p.rotates(), "nothing to gain")
}
