package scqm

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/losses"
)

// Means err less than nearest points, and by as much as their standard deviations say, and
// leave alone what is there. Rows do not depend on each other, nor on the threads.
func TestImputeErrsLessThanProjection(t *testing.T) {
	x := bowl(31, 300, 5, 0.02)
	y := hide(x, 32, 0.3)
	for _, name := range []string{"squared_l2", "l1", "huber"} {
		fit := learn(t, y, Config{Latent: 2, Loss: named(t, name, x.D), Ridge: 1e-3, IgnoreMissing: true})
		fresh := bowl(33, 400, 5, 0.02)
		gaps := hide(fresh, 34, 0.3)
		filled, err := fit.Model.Impute(t.Context(), gaps, 2)
		require.NoError(t, err)
		assert.Less(t, hiddenError(fresh, gaps, filled.X), hiddenError(fresh, gaps, impute(t, fit.Model, gaps)), name)
		var square, count float64
		for k, v := range gaps.X {
			if v == v {
				require.Equal(t, v, filled.X[k])
				require.Zero(t, filled.Std[k])
				continue
			}
			count++
			square += math.Pow((filled.X[k]-fresh.X[k])/filled.Std[k], 2)
		}
		assert.InDelta(t, 1, square/count, 0.5, name)
		alone, err := fit.Model.Impute(t.Context(), gaps.Select([]int{7}), 1)
		require.NoError(t, err)
		assert.Equal(t, filled.X[7*5:8*5], alone.X)
		assert.Equal(t, filled.Std[7*5:8*5], alone.Std)
	}
}

// Of a parabola of which only the height is known both branches are as likely.
func TestImputeBetweenBranches(t *testing.T) {
	x := Data{N: 401, D: 2}
	for i := range x.N {
		a := -1 + float64(i)/200
		x.X = append(x.X, a, a*a)
	}
	fit := learn(t, x, Config{Latent: 1, Loss: losses.SquaredL2(), Ridge: 1e-3, IgnoreMissing: true})
	filled, err := fit.Model.Impute(t.Context(), Data{N: 1, D: 2, X: []float64{math.NaN(), 0.25}}, 1)
	require.NoError(t, err)
	assert.InDelta(t, 0, filled.X[0], 0.02)
	assert.InDelta(t, 0.5, filled.Std[0], 0.02)
}

func TestImputeInAnyUnit(t *testing.T) {
	x := hide(bowl(35, 80, 5, 0.05), 36, 0.2)
	for _, name := range []string{"squared_l2", "l1"} {
		c := Config{Latent: 2, Loss: named(t, name, x.D), Ridge: 1e-2, IgnoreMissing: true}
		want, err := learn(t, x, c).Model.Impute(t.Context(), x, 1)
		require.NoError(t, err)
		for _, unit := range []float64{0x1p60, 0x1p-60} {
			scaled := x
			scaled.X = slices.Clone(x.X)
			floats.Scale(unit, scaled.X)
			got, err := learn(t, scaled, c).Model.Impute(t.Context(), scaled, 1)
			require.NoError(t, err)
			floats.Scale(1/unit, got.X)
			floats.Scale(1/unit, got.Std)
			assert.InDeltaSlice(t, want.X, got.X, 1e-4, "%s %g", name, unit)
			assert.InDeltaSlice(t, want.Std, got.Std, 1e-4, "%s %g", name, unit)
		}
	}
}

func TestImputeRefusals(t *testing.T) {
	x := bowl(37, 60, 4, 0.05)
	gaps := hide(x, 38, 0.2)
	plain := learn(t, x, Config{Latent: 2, Loss: losses.SquaredL2()}).Model
	_, err := plain.Impute(t.Context(), gaps, 1)
	require.ErrorIs(t, err, ErrInput)
	filled, err := plain.Impute(t.Context(), x, 1)
	require.NoError(t, err)
	assert.Equal(t, x.X, filled.X)

	m := *learn(t, x, Config{Latent: 2, Loss: losses.SquaredL2(), IgnoreMissing: true}).Model
	_, err = m.Impute(t.Context(), Data{N: 1, D: 4, X: []float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}}, 1)
	require.ErrorContains(t, err, "row 0 has no entry")
	m.Tau = nil
	_, err = m.Impute(t.Context(), gaps, 1)
	require.ErrorIs(t, err, ErrInput)
	assert.ErrorContains(t, err, "coordinates")
}
