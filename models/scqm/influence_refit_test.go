package scqm

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/solvers"
)

// refitted is how far the sheet moves when it is fitted anew without row i, from
// where it is.
func refitted(t testing.TB, fit *settledFit, i int, solver framework.Solver) float64 {
	t.Helper()
	p := fit.problem
	f, data := p.sheet, p.data
	rest := Data{N: data.N - 1, D: data.D, X: slices.Delete(slices.Clone(data.X), i*data.D, (i+1)*data.D)}
	small, err := NewProblem(context.Background(), rest, p.loss, f.d, f.s, 1)
	require.NoError(t, err)
	small.Lambda = p.Lambda
	start := fit.at.Clone()
	start[BlockTau] = slices.Delete(start[BlockTau], i*f.d, (i+1)*f.d)
	run, err := framework.Solve(context.Background(), small, start, solver, framework.Options{Tolerance: 1e-8, MaxIterations: 5000})
	require.NoError(t, err)
	before, after := newSheet(f.D, f.d, f.s), newSheet(f.D, f.d, f.s)
	before.load(fit.at[BlockC], fit.at[BlockQ], fit.at[BlockTheta])
	after.load(run.Point[BlockC], run.Point[BlockQ], run.Point[BlockTheta])
	var sum float64
	z, phi, r := make([]float64, f.m), make([]float64, f.q), make([]float64, f.D)
	k := newProjector(after, p.loss)
	for j := range data.N {
		tau := slices.Clone(fit.at[BlockTau][j*f.d : (j+1)*f.d])
		n := newtonRow{projector: k, ctx: context.Background(), e: rowEvaluation{sheet: after, loss: p.loss, data: Data{N: 1, D: f.D, X: data.Row(j)}, tau: tau}}
		before.coordinates(z, phi, tau)
		before.residual(r, z, make([]float64, f.D))
		require.NoError(t, n.minimise(tau))
		after.coordinates(z, phi, tau)
		there := make([]float64, f.D)
		after.residual(there, z, make([]float64, f.D))
		gap := floats.Distance(r, there, 2)
		sum += gap * gap
	}
	return math.Sqrt(sum / float64(data.N))
}

// spearman is the correlation of the ranks.
func spearman(x, y []float64) float64 {
	return stat.Correlation(ranks(x), ranks(y), nil)
}

func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return int(math.Copysign(1, x[i]-x[j])) })
	rank := make([]float64, len(x))
	for k, i := range order {
		rank[i] = float64(k)
	}
	return rank
}

func TestExploreDigits(t *testing.T) {
	if os.Getenv("EXPLORE") == "" {
		t.Skip()
	}
	for _, name := range []string{"squared_l2", "l2"} {
		x := digits(t, 100, "4", "9")
		fit := learn(t, x, Config{Latent: 2, Loss: named(t, name, 784), Options: framework.Options{Tolerance: 1e-8, MinRelativeDecrease: -1}})
		fmt.Println(name, fit.Model.Meta.Status, fit.Model.Meta.Message, fit.Model.Meta.Stationarity, fit.Model.Meta.Iterations)
		got, err := fit.Model.Influence(context.Background(), x, 0)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(got.Remaining, got.Rounding, got.Notes)
		s, err := fit.Model.settled(context.Background(), x, 0)
		require.NoError(t, err)
		fmt.Println(s.problem.data.D)
		var a, b []float64
		for i := range x.N {
			a = append(a, got.Rows[i].Move)
			b = append(b, refitted(t, s, i, solvers.Auto(s.problem)))
			fmt.Printf("%d %.4g %.4g %.3g %.3g %v\n", i, a[i], b[i], got.Rows[i].Residual, got.Rows[i].Without, got.Rows[i].Unstable)
		}
		fmt.Println(name, spearman(a, b))
	}
	assert.True(t, true)
}
