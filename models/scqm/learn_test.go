package scqm

import (
	"bytes"
	"context"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// The number of threads changes no bit of a fit, whatever the solver.
func TestThreadsChangeNothing(t *testing.T) {
	for _, s := range solvers.Describe() {
		for _, name := range []string{"l2", "l1", "mahalanobis"} {
			x := Data{N: 150, D: 5, X: gaussians(4, 750)}
			c := Config{Latent: 2, Loss: named(t, name, 5), Ridge: 0.1, Inits: 2, Options: framework.Options{MaxIterations: 15}}
			var err error
			c.Solver, err = solvers.ByName(s.Name)
			require.NoError(t, err)
			if !serves(c.Solver, c.Loss) {
				continue
			}
			c.Threads = 1
			one := learn(t, x, c)
			for _, threads := range []int{2, 3} {
				c.Threads = threads
				more := learn(t, x, c)
				assert.True(t, one.Run.Point.Equal(more.Run.Point), "%s, %s, %d threads", s.Name, name, threads)
				assert.Equal(t, one.Model.Meta, more.Model.Meta)
			}
		}
	}
}

// On a sheet that one start misses, more starts find it.
func TestSeveralStarts(t *testing.T) {
	x := digits(t, 60, "4", "9")
	c := Config{Latent: 2, Curvature: FullCurvature, Loss: losses.L2(), Seed: 3}
	one := learn(t, x, c)
	c.Inits = 8
	best := learn(t, x, c)
	assert.LessOrEqual(t, best.Run.Cost, one.Run.Cost*(1+1e-9), "more starts are never worse")
	assert.Greater(t, best.Run.Counts.Passes, one.Run.Counts.Passes, "of all runs")
	assert.Less(t, best.Run.Counts.Passes, 5*one.Run.Counts.Passes, "as they race")
	require.Len(t, best.Model.Meta.Notes, 1)
	assert.Contains(t, best.Model.Meta.Notes[0], "the best of 8 starts")
	again := learn(t, x, c)
	assert.Equal(t, best.Model.Meta, again.Model.Meta)
	assert.True(t, best.Run.Point.Equal(again.Run.Point))

	c.Options.Checkpoint = &framework.Checkpoint{}
	_, err := Learn(context.Background(), x, c)
	require.ErrorIs(t, err, ErrInput)
}

// A parabola seen from far up is near its left or its right arm. A row left in
// the valley of the wrong one goes over, and the fit goes on.
func TestReassignment(t *testing.T) {
	n := 41
	x := Data{N: n, D: 2, X: make([]float64, 2*n)}
	for i := range n {
		v := float64(i-n/2) / 10
		x.X[2*i], x.X[2*i+1] = v, v*v
	}
	p, err := NewProblem(context.Background(), x, losses.L2(), 1, 1, 1)
	require.NoError(t, err)
	at := framework.NewPoint(p.Blocks())
	at[BlockQ][0], at[BlockQ][3], at[BlockTheta][0] = 1, 1, 1
	for i := range n {
		at[BlockTau][i] = x.X[2*i]
	}
	at[BlockTau][0] = 1.9 // where (-2, 4) is nearest to on the right
	before, err := p.Evaluate(nil, at)
	require.NoError(t, err)
	moved, passes, err := p.Reassign(at)
	require.NoError(t, err)
	assert.True(t, moved)
	assert.Positive(t, passes)
	assert.InDelta(t, -2, at[BlockTau][0], 1e-6)
	after, err := p.Evaluate(nil, at)
	require.NoError(t, err)
	assert.Less(t, after, before)
	moved, _, err = p.Reassign(at)
	require.NoError(t, err)
	assert.False(t, moved, "there is nothing left to gain")
}

// Fits do not depend on the unit of the rows, and sizes for which float64 is too small are refused.
func TestFarUnits(t *testing.T) {
	x := arc(3, 60, 0.05)
	for name, power := range map[string]float64{"l2": 1, "squared_l2": 2, "lp 1.5": 1.5, "l1": 1, "mahalanobis": 2, "huber": 2} {
		for _, exponent := range []int{-90, 90} {
			unit := math.Ldexp(1, exponent)
			far := Data{N: x.N, D: 2, X: append([]float64(nil), x.X...)}
			floats.Scale(unit, far.X)
			loss := named(t, name, 2)
			c := Config{Latent: 1, Loss: loss, Ridge: 10}
			near := c
			if name == "huber" { // delta is a length
				c.Loss, _ = losses.Huber(2 * unit)
				near.Loss, _ = losses.Huber(2)
			}
			a, b := learn(t, x, near).Model, learn(t, far, c).Model
			factor := math.Pow(unit, power)
			assert.InEpsilon(t, a.Meta.Objective, b.Meta.Objective/factor, 1e-6, "%s, 2^%d", name, exponent)
			assert.InEpsilon(t, a.Theta[0], b.Theta[0]*unit, 1e-3)
			assert.InEpsilon(t, a.Tau[0], b.Tau[0]/unit, 1e-3)
			assert.InEpsilon(t, a.Meta.Penalty, b.Meta.Penalty/factor, 1e-3)
			assert.Equal(t, describeLoss(c.Loss), b.Meta.Loss)
			require.NoError(t, b.Validate())
			values := make([]float64, x.N)
			rows, err := b.Reconstruct(context.Background(), b.Tau, 1)
			require.NoError(t, err)
			floats.Sub(rows, far.X)
			require.NoError(t, c.Loss.Evaluate(values, nil, rows, 2))
			assert.InEpsilon(t, floats.Sum(values), b.Meta.Objective, 1e-9)
		}
	}
	for _, exponent := range []int{-150, 150} {
		far := Data{N: x.N, D: 2, X: append([]float64(nil), x.X...)}
		floats.Scale(math.Ldexp(1, exponent), far.X)
		_, err := Learn(t.Context(), far, Config{Latent: 1, Loss: losses.L2()})
		require.ErrorIs(t, err, ErrInput)
		assert.ErrorContains(t, err, "divide all columns")
	}
}

func TestWarningWhereTheDataCannotSupportTheModel(t *testing.T) {
	few := Data{N: 12, D: 30, X: gaussians(1, 360)}
	c := Config{Latent: 3, Curvature: FullCurvature, Loss: losses.SquaredL2(), Options: framework.Options{MaxIterations: 5}}
	fit := learn(t, few, c)
	require.Len(t, fit.Model.Meta.Notes, 1)
	assert.Contains(t, fit.Model.Meta.Notes[0], "it follows noise")
	c.Ridge = 1
	assert.Empty(t, learn(t, few, c).Model.Meta.Notes)
	c.Ridge = 0
	assert.Empty(t, learn(t, Data{N: 300, D: 30, X: gaussians(1, 9000)}, c).Model.Meta.Notes)
}

// A run that was stored when it had ended is reported as it was, also where
// that rests on how the loss was rounded last.
func TestStoredEndOfARun(t *testing.T) {
	x := Data{N: 60, D: 5, X: gaussians(4, 300)}
	ended := map[string]bool{}
	for _, s := range slices.Concat(solvers.Describe(), solvers.Describe()) {
		solver, err := solvers.ByName(s.Name)
		require.NoError(t, err)
		var stored bytes.Buffer
		c := Config{Latent: 1, Loss: losses.L1(), Solver: solver, Options: framework.Options{MaxIterations: 7}}
		if !serves(solver, c.Loss) {
			c.Loss = losses.L2()
		}
		if ended[s.Name] { // the second time until it stops by itself
			c.Loss, c.Ridge, c.Options = losses.L2(), 10, framework.Options{MinRelativeDecrease: 1e-6}
		}
		ended[s.Name] = true
		c.Options.Checkpoint = &framework.Checkpoint{Every: 1, Store: func(write func(io.Writer) error) error {
			stored.Reset()
			return write(&stored)
		}}
		want := learn(t, x, c).Model.Meta
		c.Options.Checkpoint = &framework.Checkpoint{Stored: &stored}
		assert.Equal(t, want, learn(t, x, c).Model.Meta, s.Name)
	}
}
