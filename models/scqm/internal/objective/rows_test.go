package objective_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/problemtest"
)

// Hessians by rows are the second differences of row costs: the remainder of
// Taylor's expansion is of third order, for every loss and shape, with weights and
// without, and where kinks are rounded.
func TestRowHessians(t *testing.T) {
	const D = 6
	weighted := problemtest.WeightedRows(D)
	plain := rows.Data{N: weighted.N, D: D, X: weighted.X}
	for _, name := range problemtest.AllLosses {
		loss := problemtest.Named(t, name, D)
		for _, shape := range [][2]int{{2, 3}, {3, 2}, {1, 1}, {2, 0}} {
			checkRowHessians(t, name, loss, weighted, shape[0], shape[1], 0)
			checkRowHessians(t, name, loss, plain, shape[0], shape[1], 0)
		}
		checkRowHessians(t, "rounded "+name, loss, weighted, 2, 3, 0.3)
	}
	for _, name := range []string{"l2", "huber", "lp 4"} {
		checkRowHessians(t, "black box "+name, problemtest.BlackBox{Loss: problemtest.Named(t, name, D)}, plain, 2, 3, 0)
	}
}

func checkRowHessians(t *testing.T, name string, loss framework.Loss, data rows.Data, d, s int, eps float64) {
	t.Helper()
	o, err := objective.New(context.Background(), data, loss, d, s, 1)
	require.NoError(t, err)
	x := problemtest.Place(t, o)
	o.Smooth(eps)
	costs, grad, hess := make([]float64, data.N), make([]float64, data.N*d), make([]float64, data.N*d*d)
	require.NoError(t, o.EvaluateInto(nearest.RowResults{Costs: costs, Grad: grad, Hess: hess}, x, objective.BlockTau, nil))
	for i := 0; i < data.N; i += 3 {
		r := rowExpansion{o, x, i, d, costs[i], grad[i*d : (i+1)*d], hess[i*d*d : (i+1)*d*d]}
		best := r.slope(t, 1)
		for _, length := range []float64{-0.3, 0.1} { // a kink or a zero of an entry may be near
			if !best.AtLeast(3) {
				best = r.slope(t, length)
			}
		}
		assert.True(t, best.AtLeast(3), "%s, d = %d, s = %d, row %d: slope %v", name, d, s, i, best)
	}
}

// rowExpansion is Taylor's expansion of second order of the cost of row i.
type rowExpansion struct {
	o          *objective.Objective
	x          framework.Point
	i, d       int
	cost       float64
	grad, hess []float64
}

// slope is the order of the remainder along a random direction, whose length is in
// units of that of tau.
func (r *rowExpansion) slope(t *testing.T, length float64) frameworktest.Slope {
	rng, v := rand.New(rand.NewPCG(1, uint64(r.i))), make([]float64, r.d)
	for j := range v {
		v[j] = rng.NormFloat64()
	}
	trial := r.x.Clone()
	at, row := r.x[objective.BlockTau][r.i*r.d:(r.i+1)*r.d], trial[objective.BlockTau][r.i*r.d:(r.i+1)*r.d]
	floats.Scale(length*floats.Norm(at, 2)/floats.Norm(v, 2), v)
	first, second := floats.Dot(r.grad, v), 0.0
	for a, u := range v {
		second += u * floats.Dot(r.hess[a*r.d:(a+1)*r.d], v)
	}
	costs := make([]float64, r.o.Data().N)
	slope, err := frameworktest.TaylorSlope(func(t float64) (float64, float64, error) {
		floats.AddScaledTo(row, at, t, v)
		err := r.o.EvaluateRows(costs, nil, trial, objective.BlockTau, []int{r.i})
		now := costs[r.i]
		return math.Abs(now - r.cost - t*first - t*t*second/2), math.Max(math.Abs(now), math.Abs(r.cost)), err
	})
	require.NoError(t, err, "row %d", r.i)
	return slope
}
