package scqm

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
)

// tight fits until nothing is left to gain.
func tight(t testing.TB, x Data, c Config) *Model {
	t.Helper()
	c.Options = framework.Options{Tolerance: 1e-10, MinRelativeDecrease: -1}
	return learn(t, x, c).Model
}

// influenceMoves returns the moves of all rows to first order.
func influenceMoves(t testing.TB, m *Model, x Data) []float64 {
	t.Helper()
	got, err := m.Influence(context.Background(), x, 1)
	require.NoError(t, err)
	moves := make([]float64, x.N)
	for i, r := range got.Rows {
		moves[i] = r.Move * (1 - r.Leverage)
	}
	return moves
}

func assertClose(t testing.TB, want, got []float64, tolerance float64, label string) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		assert.InEpsilon(t, want[i], got[i], tolerance, "%s, row %d", label, i)
	}
}

// Influences do not depend on threads, on columns of V that do not bend, on how
// the sheet is turned, on whether tau is known, or on the unit.
func TestInfluenceInvariances(t *testing.T) {
	x := bentRowsOf(70, 6)
	for _, name := range []string{"huber", "lp 3"} {
		c := Config{Latent: 2, Curvature: 3, Loss: named(t, name, 6), Ridge: 0.1}
		m := tight(t, x, c)
		want := influenceMoves(t, m, x)
		many, err := m.Influence(context.Background(), x, 7)
		require.NoError(t, err)
		for i, r := range many.Rows {
			assert.Equal(t, want[i], r.Move*(1-r.Leverage), name)
		}

		turned := *m
		turned.U, turned.Tau, turned.Theta = slices.Clone(m.U), slices.Clone(m.Tau), slices.Clone(m.Theta)
		flip := func(a []float64, columns int) {
			for i := 0; i < len(a); i += columns {
				a[i] = -a[i]
			}
		}
		flip(turned.U, 2)
		flip(turned.Tau, 2)
		floats.Scale(-1, turned.Theta[3:6]) // tau_1 tau_2
		assertClose(t, want, influenceMoves(t, &turned, x), 1e-6, "turned")

		forgotten := *m
		forgotten.Tau = nil
		assertClose(t, want, influenceMoves(t, &forgotten, x), 1e-6, "without tau")

		c.Curvature = 4 // one more than can bend
		assertClose(t, want, influenceMoves(t, tight(t, x, c), x), 1e-5, "padded")
	}
	// Without a ridge the sheet goes through a row, and the part of it that the
	// row alone holds is known to five digits.
	c := Config{Latent: 2, Loss: losses.L2(), Ridge: 0.1}
	want := influenceMoves(t, tight(t, x, c), x)
	for _, unit := range []float64{1e6, 0x1p-80, 0x1p80} {
		scaled := Data{N: x.N, D: x.D, X: slices.Clone(x.X), Weights: x.Weights}
		for i := range scaled.X {
			scaled.X[i] = unit * (scaled.X[i] + 0.3)
		}
		got := influenceMoves(t, tight(t, scaled, c), scaled)
		floats.Scale(1/unit, got)
		assertClose(t, want, got, 1e-5, "scaled")
	}
}

// Rows as long as there are few of them are looked at in the span of the rows.
func TestInfluenceInSpanOfRows(t *testing.T) {
	x := bentRowsOf(20, 40)
	x.Weights = nil
	huber := named(t, "huber", 40)
	m := tight(t, x, Config{Latent: 1, Loss: huber, Ridge: 1})
	s, err := presolved(m).asPoint(context.Background(), x, 1)
	require.NoError(t, err)
	require.Equal(t, 20, s.problem.Data().D)
	whole := *m
	whole.Loss = longOnly{huber.(bentRadial)} // which keeps it out of the span
	assertClose(t, influenceMoves(t, m, x), influenceMoves(t, &whole, x), 1e-6, "whole")
}

// longOnly is a loss for rows of 40 entries.
type longOnly struct{ bentRadial }

type bentRadial interface {
	framework.Radial
	framework.SecondOrder
}

func (longOnly) Dim() int { return 40 }

// A row of weight 2 is two rows, each with half of its influence; a row of
// weight 0 has none.
func TestInfluenceOfWeights(t *testing.T) {
	x := bentRowsOf(60, 5)
	x.Weights = nil
	c := Config{Latent: 2, Loss: named(t, "huber", 5), Ridge: 0.1}
	twice := Data{N: 61, D: 5, X: slices.Concat(x.X, x.Row(3))}
	heavy := Data{N: 61, D: 5, X: slices.Concat(x.X, x.Row(4)), Weights: make([]float64, 61)}
	for i := range 60 {
		heavy.Weights[i] = 1
	}
	heavy.Weights[3] = 2
	m, w := tight(t, twice, c), tight(t, heavy, c)
	two, one := influenceMoves(t, m, twice), influenceMoves(t, w, heavy)
	assert.InEpsilon(t, 2*two[3], one[3], 1e-5)
	assert.InEpsilon(t, two[60], two[3], 1e-5)
	assert.Zero(t, one[60])
	assertClose(t, two[10:60], one[10:60], 1e-5, "other rows")
}

// Influences count weights.
func TestInfluenceOfWeightedRowsIsThatOfRefits(t *testing.T) {
	x := bentRowsOf(40, 5)
	x.Weights[3] = 0
	m := tight(t, x, Config{Latent: 2, Loss: named(t, "huber", 5), Ridge: 0.1})
	got, err := m.Influence(context.Background(), x, 0)
	require.NoError(t, err)
	refits := m.leaveOut(t, x, 5, 3, 11)
	for k, i := range []int{5, 3, 11} {
		assert.InDelta(t, got.Rows[i].Residual, refits[k].Residual, 1e-9)
		assert.InDelta(t, got.Rows[i].Without, refits[k].Without, 0.1*got.Rows[i].Without)
		assert.InDelta(t, got.Rows[i].Move, refits[k].Move, 0.3*got.Rows[i].Move)
	}
}

// A row that lies far away from the others drives the fit of least squares, and
// is held back by robust losses.
func TestInfluenceFindsOutlier(t *testing.T) {
	x := noisyArc(3)
	x.X[2*17], x.X[2*17+1] = 1.7, 1.9
	huber, err := losses.Huber(0.1)
	require.NoError(t, err)
	square := influenceMoves(t, tight(t, x, Config{Latent: 1, Loss: losses.SquaredL2(), Ridge: 0.1}), x)
	robust := influenceMoves(t, tight(t, x, Config{Latent: 1, Loss: huber, Ridge: 0.1}), x)
	assert.Equal(t, 17, floats.MaxIdx(square))
	assert.Less(t, robust[17], square[17]/2)
}

// Losses with kinks are rounded, which is said.
func TestInfluenceRoundsKinks(t *testing.T) {
	x := noisyArc(1)
	for _, loss := range []framework.Loss{losses.L1(), losses.L2(), named(t, "lp 1.5", 2)} {
		got, err := learn(t, x, Config{Latent: 1, Loss: loss}).Model.Influence(context.Background(), x, 0)
		require.NoError(t, err, loss.Name())
		assert.Positive(t, got.Rounding)
		require.NotEmpty(t, got.Notes)
		assert.Contains(t, got.Notes[len(got.Notes)-1], "rounded")
		for _, r := range got.Rows {
			assert.False(t, math.IsNaN(r.Move) || math.IsInf(r.Move, 0))
		}
	}
}

func TestInfluenceRefusals(t *testing.T) {
	x := bentRowsOf(60, 5)
	m := tight(t, x, Config{Latent: 2, Curvature: FullCurvature, Loss: losses.SquaredL2(), Ridge: 0.1})
	ask := func(m *Model, x Data) error {
		_, err := m.Influence(context.Background(), x, 0)
		return err
	}
	other := bentRowsOf(60, 5)
	other.X[7]++
	assert.ErrorIs(t, ask(m, other), ErrInput)
	assert.ErrorContains(t, ask(m, other), "the same rows with the same weights")
	unweighted := x
	unweighted.Weights = nil
	assert.ErrorContains(t, ask(m, unweighted), "the same weights")
	assert.ErrorContains(t, ask(m, bentRowsOf(60, 6)), "6 columns")
	lossless := *m
	lossless.Loss = nil
	assert.ErrorContains(t, ask(&lossless, x), "not loaded")

	few := Data{N: 4, D: 5, X: x.X[:20]}
	exact := learn(t, few, Config{Latent: 2, Curvature: FullCurvature, Loss: losses.SquaredL2(), Ridge: NoRidge}).Model
	assert.ErrorContains(t, ask(exact, few), "runs through every row")

	hasty, err := Learn(context.Background(), x, Config{Latent: 2, Curvature: FullCurvature, Loss: losses.SquaredL2(), Options: framework.Options{MaxIterations: 2}})
	require.NoError(t, err)
	got, err := hasty.Model.Influence(context.Background(), x, 0)
	if err == nil {
		require.NotEmpty(t, got.Notes)
		assert.Contains(t, got.Notes[0], "smaller tolerance")
	} else {
		assert.ErrorIs(t, err, ErrNotMinimum)
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = m.Influence(ctx, x, 0)
	assert.ErrorIs(t, err, context.Canceled)
}

// Rows whose matrices would be too large are refused at once.
func TestInfluenceRefusesLongRows(t *testing.T) {
	x := bentRowsOf(12, 2700)
	x.Weights = nil
	c := Config{Latent: 2, Loss: named(t, "lp 3", 2700), Linear: true, Options: framework.Options{MaxIterations: 3}}
	_, err := learn(t, x, c).Model.Influence(context.Background(), x, 0)
	assert.ErrorContains(t, err, "use fewer columns")
}
