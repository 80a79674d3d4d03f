package scqm

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

// Rows near a fold are better at other places only where several of them go there and
// the sheet follows.
func TestRowsMoveTogether(t *testing.T) {
	for _, seed := range []uint64{12, 46} {
		x := noisyParaboloid(rand.New(rand.NewPCG(seed, 1)), 5, 2, 60)
		fit, err := Learn(context.Background(), x, Config{Latent: 2, Loss: losses.SquaredL2(), Threads: 1})
		require.NoError(t, err)
		first, err := Learn(context.Background(), x, Config{Latent: 2, Loss: losses.SquaredL2(), Threads: 1,
			Options: framework.Options{FirstOrder: true}})
		require.NoError(t, err)
		assert.Less(t, fit.Run.Cost, first.Run.Cost*(1-worthMoving), "rows have moved")
		f, err := fit.Model.refined(context.Background(), x, 1)
		require.NoError(t, err)
		moved, passes, err := f.problem.reassignTogether(f.at)
		require.NoError(t, err)
		assert.False(t, moved, "the fit is a minimum for sets of few rows too")
		assert.Positive(t, passes)
	}
}

// Under losses with unbounded second derivatives single rows of folded sheets go to the places that they
// promise most from, rounded: restarts found these two fits .036 and .011 % lower. Fits do not depend on
// the number of threads, and go on from wherever they were stored.
func TestRowsMoveUnderRoundedLosses(t *testing.T) {
	for _, c := range []struct {
		cell  minimaCell
		rng   *rand.Rand
		lower float64
	}{
		{minimaCell{"l2", false, 5, 50}, drill.Stream(61, "l250 5 false", 0), 7.906},
		{minimaCell{"lp", false, 5, 200}, drill.Stream(1, "minima", 3580), 25.4554},
	} {
		s, err := newMinimaCase(c.cell, c.rng)
		require.NoError(t, err)
		var stored [][]byte
		s.c.Options.Checkpoint = storing(&stored)
		want := learn(t, s.x, s.c).Model.Meta
		assert.Equal(t, "converged", want.Status, "%s", s)
		assert.Less(t, want.Objective+want.Penalty, c.lower, "%s", s)
		s.c.Threads = 2
		for _, k := range []int{len(stored) / 2, len(stored) - 1} {
			s.c.Options.Checkpoint = resuming(stored[k])
			assert.Equal(t, want, learn(t, s.x, s.c).Model.Meta, "%s", s)
		}
	}
}

// Sheets without folds have no rows that could.
func TestFlatSheetsCostNothing(t *testing.T) {
	x := turnedArc(rand.New(rand.NewPCG(1, 1)), 3, 40)
	fit, err := Learn(context.Background(), x, Config{Latent: 1, Loss: losses.SquaredL2(), Threads: 1})
	require.NoError(t, err)
	f, err := fit.Model.refined(context.Background(), x, 1)
	require.NoError(t, err)
	at := f.at.Clone()
	moved, passes, err := f.problem.reassignTogether(at)
	require.NoError(t, err)
	assert.False(t, moved)
	assert.Zero(t, passes)
	assert.True(t, at.Equal(f.at))
}

// Rows that are left out have no other place whose rise is looked at.
func TestRowsLeftOutHaveNoOtherPlace(t *testing.T) {
	listed, found, all := 0, 0, 0
	for seed := range uint64(30) {
		for _, loss := range []framework.Loss{losses.SquaredL2(), losses.L2()} {
			x := Data{N: 20, D: 3, X: make([]float64, 60)}
			for i, rng := 0, rand.New(rand.NewPCG(seed, 1)); i < x.N; i++ {
				u, v := rng.NormFloat64(), rng.NormFloat64()
				copy(x.Row(i), []float64{u, v, u*u - v*v + rng.NormFloat64()})
			}
			fit, err := Learn(context.Background(), x, Config{Latent: 2, Loss: loss, Threads: 1, Options: framework.Options{FirstOrder: true}})
			require.NoError(t, err)
			f, err := fit.Model.refined(context.Background(), x, 1)
			require.NoError(t, err)
			p, at := f.problem, f.at.Clone()
			_, _, err = p.Reassign(at)
			require.NoError(t, err)
			cost, err := p.Evaluate(nil, at)
			require.NoError(t, err)
			from, to := make([]float64, x.N), make([]float64, x.N)
			require.NoError(t, p.EvaluateRows(from, nil, at, BlockTau, nil))
			rows := p.foldedRows(at, from, cost)
			sheet, every := p.NewSheet(), make([]int, x.N)
			for i := range every {
				every[i] = i
			}
			sheet.Load(at[BlockC], at[BlockQ], at[BlockTheta])
			moves, err := nearest.OtherMinima(context.Background(), at[BlockTau], sheet, x, every, 1)
			require.NoError(t, err)
			y := at.Clone()
			for _, m := range moves {
				copy(y[BlockTau][m.Row*2:], m.Tau)
			}
			require.NoError(t, p.EvaluateRows(to, nil, y, BlockTau, nil))
			for _, m := range moves {
				if to[m.Row]-from[m.Row] < highestRise*cost {
					assert.Contains(t, rows, m.Row)
					found++
				}
			}
			listed, all = listed+len(rows), all+x.N
		}
	}
	assert.Positive(t, found)
	assert.Less(t, listed, all)
}

// Sets grow by what each row adds to those before, and promise no more than their rows
// cost.
func TestSetsOfRows(t *testing.T) {
	list := []movable{
		{loss: 1, gain: -0.1, white: []float64{1, 0}},
		{loss: 1, gain: -0.2, white: []float64{1, 0}},
		{loss: 1, gain: -0.1, white: []float64{0, 1}},
		{loss: 9, gain: -0.1, white: []float64{-1, 0}},
	}
	sets := promising(list, 0)
	require.Len(t, sets, 1)
	assert.Equal(t, []int{0, 1}, sets[0].rows)
	assert.InDelta(t, 0.7, sets[0].gain, 1e-15)
	list[0].loss, list[1].loss = 0.3, 0.3
	assert.Empty(t, promising(list, 0), "two rows gain no more than they cost")
}

// A set that was tried in vain is known at the same minimum, by its rows and not by their
// places in a list, and unknown at others.
func TestTriedSets(t *testing.T) {
	list := []movable{{row: 7}, {row: 3}, {row: 5}}
	var tried triedSets
	tried.keep(list, set{rows: []int{0, 1}}, 10)
	other := []movable{{row: 3}, {row: 7}, {row: 5}}
	assert.True(t, tried.before(other, set{rows: []int{0, 1}}, 10*(1+atMinimum)))
	assert.False(t, tried.before(other, set{rows: []int{0, 1}}, 10*(1-worthMoving)))
	assert.False(t, tried.before(other, set{rows: []int{0, 2}}, 10))
}
