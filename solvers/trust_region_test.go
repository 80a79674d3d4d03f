package solvers_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/internal/standard"
	"github.com/scqm/scqm/solvers"
)

func TestTrustRegionLaws(t *testing.T) {
	frameworktest.TestSolver(t, solvers.TrustRegion{}, frameworktest.SolverOptions{
		Cases: []frameworktest.SolverCase{
			pcaCase(8, 3), procrustesCase(6, 3), rosenbrockCase(), preconditionedCase(),
		},
		Options: framework.Options{MaxIterations: 2000, MinRelativeDecrease: -1},
	})
}

// The gradient norms of a superlinear method fall faster and faster.
func TestTrustRegionIsSuperlinear(t *testing.T) {
	p := standard.New("Brockett", standard.Small)
	var norms []float64
	o := framework.Options{Tolerance: 1e-8, Observers: []func(framework.Record){
		func(p framework.Record) { norms = append(norms, p.GradientNorm) },
	}}
	res := run(t, p.Problem(), p.Start, solvers.TrustRegion{}, o)
	require.Equal(t, framework.Converged, res.Status, res.Message)
	n := len(norms)
	assert.Less(t, norms[n-1]/norms[n-2], norms[n-2]/norms[n-3])
	assert.Less(t, norms[n-2]/norms[n-3], norms[n-3]/norms[n-4])
	assert.Positive(t, res.Counts.Hessians)
}

func TestTrustRegionUsesThePreconditioner(t *testing.T) {
	start := framework.Point{make([]float64, 6)}
	exact := run(t, &stretched{n: 6, exact: true}, start, solvers.TrustRegion{}, framework.Options{})
	plain := run(t, struct{ framework.Problem }{&stretched{n: 6, exact: true}}, start, solvers.TrustRegion{}, framework.Options{})
	assert.Equal(t, framework.Converged, exact.Status)
	assert.Less(t, 2*exact.Counts.Passes, plain.Counts.Passes)
	bad := run(t, &misleading{stretched{n: 3}}, framework.Point{make([]float64, 3)}, solvers.TrustRegion{}, framework.Options{})
	assert.False(t, math.IsNaN(bad.Cost))
}

// Products with the Hessian are counted, limited and cancelled.
func TestHessianUnderABudget(t *testing.T) {
	p := standard.New("eigenvector", standard.Small)
	res := run(t, p.Problem(), p.Start, solvers.TrustRegion{}, framework.Options{MaxEvaluations: 30})
	assert.Equal(t, framework.MaxEvaluations, res.Status)
	assert.Equal(t, 30, res.Counts.Evaluations+res.Counts.Hessians)

	ctx, cancel := context.WithCancel(context.Background())
	e := framework.NewEvaluator(ctx, p.Problem())
	grad, dst := framework.NewPoint(e.Blocks()), framework.NewPoint(e.Blocks())
	_, err := e.Evaluate(grad, p.Start)
	require.NoError(t, err)
	require.NoError(t, e.Hessian(dst, p.Start, grad, grad))
	cancel()
	assert.Error(t, e.Hessian(dst, p.Start, grad, grad))
	assert.Equal(t, 1, e.Counts().Hessians)
}

// Differences of gradients agree with second derivatives to the accuracy they claim.
func TestHessianByDifferences(t *testing.T) {
	for _, p := range standard.Problems(standard.Small) {
		if !p.TwiceDifferentiable() {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			exact := framework.NewEvaluator(context.Background(), p.Problem())
			near := framework.NewEvaluator(context.Background(), p.FirstOrder())
			assert.True(t, exact.HasHessian())
			assert.False(t, near.HasHessian())
			grad, v := framework.NewPoint(p.Blocks()), framework.NewPoint(p.Blocks())
			want, got := framework.NewPoint(p.Blocks()), framework.NewPoint(p.Blocks())
			_, err := exact.Evaluate(grad, p.Start)
			require.NoError(t, err)
			var size, off float64
			for k, b := range p.Blocks() {
				for i := range v[k] {
					v[k][i] = math.Sin(float64(i + k))
				}
				b.Project(v[k], p.Start[k], v[k])
			}
			require.NoError(t, exact.Hessian(want, p.Start, grad, v))
			require.NoError(t, near.Hessian(got, p.Start, grad, v))
			for k := range want {
				for i := range want[k] {
					size = math.Max(size, math.Abs(want[k][i]))
					off = math.Max(off, math.Abs(want[k][i]-got[k][i]))
				}
			}
			assert.Less(t, off, 1e-3*size)
			assert.Zero(t, near.Counts().Hessians)
		})
	}
}

// brokenProducts fails in its second derivatives.
type brokenProducts struct {
	*standard.Problem
	err error
}

func (p brokenProducts) HessianProduct(dst, _, _ framework.Point) error {
	dst[0][0] = math.NaN()
	return p.err
}

func TestHessianErrors(t *testing.T) {
	p := standard.New("eigenvector", standard.Small)
	failure := errors.New("deliberate")
	_, err := framework.Solve(context.Background(), brokenProducts{p, failure}, p.Start, solvers.TrustRegion{}, framework.Options{})
	require.ErrorIs(t, err, failure)
	_, err = framework.Solve(context.Background(), brokenProducts{p, nil}, p.Start, solvers.TrustRegion{}, framework.Options{})
	require.ErrorIs(t, err, framework.ErrNonFinite)
}

// TestTrustRegionRefusesGaussNewton wants problems without such products to be refused.
func TestTrustRegionRefusesGaussNewton(t *testing.T) {
	for _, c := range frameworktest.SolverCases() {
		_, err := framework.Solve(context.Background(), c.New(), c.Start, solvers.TrustRegion{GaussNewton: true}, framework.Options{})
		assert.ErrorIs(t, err, errors.ErrUnsupported)
		return
	}
}
