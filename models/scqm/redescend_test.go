package scqm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/losses"
)

// twoSheets are rows near a saddle, three of ten near another half a unit above, and the points of the first.
func twoSheets(seed uint64, n int) (x, truth Data) {
	rng := rand.New(rand.NewPCG(seed, 77))
	x, truth = Data{N: n, D: 3, X: make([]float64, n*3)}, Data{N: n, D: 3, X: make([]float64, n*3)}
	for i := range n {
		a, b := 2*rng.Float64()-1, 2*rng.Float64()-1
		copy(truth.Row(i), []float64{a, b, a*a - b*b/2})
		for k, v := range truth.Row(i) {
			x.Row(i)[k] = v + 0.05*rng.NormFloat64()
		}
		if i%10 < 3 {
			x.Row(i)[2] += 0.5
		}
	}
	return x, truth
}

// offTruth is the mean distance of points of the true sheet from that of a model.
func offTruth(t *testing.T, m *Model, truth Data) float64 {
	t.Helper()
	near, err := m.Project(t.Context(), truth, 0)
	require.NoError(t, err)
	var sum float64
	for i := range truth.N {
		sum += floats.Distance(near[i*3:(i+1)*3], truth.Row(i), 2)
	}
	return sum / float64(truth.N)
}

// With a third of the rows near another sheet, losses that redescend find the one of most rows, the better the
// smaller their width.
func TestRedescendingLossesLeaveASecondSheet(t *testing.T) {
	x, truth := twoSheets(1, 500)
	known := map[string]float64{}
	for _, l := range []framework.Loss{losses.L2(), named(t, "huber", 3)} {
		known[l.Name()] = offTruth(t, learn(t, x, Config{Latent: 2, Loss: l}).Model, truth)
	}
	for _, name := range []string{"tukey", "cauchy", "welsch", "geman_mcclure"} {
		delta := 0.55 * losses.DefaultDelta(name, []float64{0.05 * 0.6745}) // the median of the noise
		l, err := losses.ByName(name, losses.Params{Delta: &delta})
		require.NoError(t, err)
		fit := learn(t, x, Config{Latent: 2, Loss: l})
		off := offTruth(t, fit.Model, truth)
		t.Logf("%s, delta = %.3f: %.4f off; others %v", name, delta, off, known)
		assert.Equal(t, "converged", fit.Model.Meta.Status, name)
		assert.Less(t, off, 0.7*known["l2"], name)
		assert.Less(t, off, 0.4*known["huber"], name)
		far, err := fit.Model.ProjectAll(t.Context(), x, 0)
		require.NoError(t, err)
		byDistance := *fit.Model
		byDistance.Loss = losses.SquaredL2()
		near, err := byDistance.ProjectAll(t.Context(), x, 0)
		require.NoError(t, err)
		assert.InDeltaSlice(t, near.X, far.X, 1e-6, "rows without weight have the nearest point too")
		assert.True(t, far.Rows[0].Certified)
		influence, err := fit.Model.Influence(t.Context(), x, 0)
		require.NoError(t, err)
		if name == "tukey" {
			assert.Zero(t, influence.Rows[0].Move, "a row beyond the width")
		}
		refits := fit.Model.leaveOut(t, x, 5, 15)
		for k, i := range []int{5, 15} {
			assert.InEpsilon(t, refits[k].Move, influence.Rows[i].Move, 0.2, "%s, row %d", name, i)
		}
	}
}

// With the default width they are nearer to it than l2 on the average of tables.
func TestDefaultWidthLeavesASecondSheet(t *testing.T) {
	var mean float64
	const tables = 6
	for seed := range uint64(tables) {
		x, truth := twoSheets(seed, 200)
		delta, err := DefaultDelta(t.Context(), x, Config{Latent: 2}, "tukey")
		require.NoError(t, err)
		l, err := losses.Tukey(delta)
		require.NoError(t, err)
		off := offTruth(t, learn(t, x, Config{Latent: 2, Loss: l}).Model, truth)
		byL2 := offTruth(t, learn(t, x, Config{Latent: 2, Loss: losses.L2()}).Model, truth)
		t.Logf("delta = %.3f: %.4f off, l2 %.4f", delta, off, byL2)
		mean += math.Log(off/byL2) / tables
	}
	assert.Less(t, math.Exp(mean), 0.7)
}

// The width is that of the residuals of the fit by the core of the loss, without those of outliers, with rows by
// their weights.
func TestDefaultDeltaOfRedescendingLosses(t *testing.T) {
	x, _ := twoSheets(2, 200)
	c := Config{Latent: 2, Ridge: DefaultRidge, Options: framework.Options{Tolerance: 1e-9}}
	width := func(l framework.Loss) float64 {
		c.Loss = l
		fit := learn(t, x, c)
		near, err := fit.Model.Reconstruct(t.Context(), fit.Model.Tau, 1)
		require.NoError(t, err)
		var norms []float64
		for i := range x.N {
			norms = append(norms, floats.Distance(near[i*3:(i+1)*3], x.Row(i), 2))
		}
		all := losses.DefaultDelta("welsch", norms)
		norms = slices.DeleteFunc(norms, func(v float64) bool { return v > 2.5*all/2.985 })
		return losses.DefaultDelta("welsch", norms)
	}
	byL2 := width(losses.L2())
	wide, err := losses.Welsch(byL2)
	require.NoError(t, err)
	core, ok := losses.Core(wide)
	require.True(t, ok)
	got, err := DefaultDelta(t.Context(), x, c, "welsch")
	require.NoError(t, err)
	assert.InEpsilon(t, width(core), got, 0.05)
	assert.Less(t, got, byL2, "the rows of the other sheet widen residuals of the fit by l2")
	x.Weights = make([]float64, x.N)
	for i := range x.Weights {
		x.Weights[i] = 3
	}
	c.Ridge *= 3
	heavy, err := DefaultDelta(t.Context(), x, c, "welsch")
	require.NoError(t, err)
	assert.InEpsilon(t, got, heavy, 1e-6)
	_, err = DefaultDelta(t.Context(), x, Config{Latent: 2, IgnoreMissing: true}, "tukey")
	assert.ErrorContains(t, err, "loss tukey is no sum over entries")
	_, ok = losses.Core(losses.L2())
	assert.False(t, ok)
}

// fair is u/(1+u) of u = |r|^2, which gives 1 for rows that are not finite.
type fair struct{}

func (fair) Name() string { return "fair" }

func (fair) Evaluate(values, grad, r []float64, dim int) error {
	for i := range len(r) / dim {
		row := r[i*dim : (i+1)*dim]
		q := 1 / (1 + floats.Dot(row, row))
		if values != nil {
			values[i] = 1
			if q > 0 {
				values[i] = 1 - q
			}
		}
		for k, v := range row {
			if grad != nil {
				grad[i*dim+k] = 2 * q * q * v
			}
		}
	}
	return nil
}

// A bounded loss does not hide points and residuals that are not finite.
func TestBoundedLossesSeeFiniteResiduals(t *testing.T) {
	frameworktest.TestLoss(t, fair{}, frameworktest.LossOptions{NonConvex: true})
	x, _ := twoSheets(4, 50)
	p, start := begin(t, x, fair{}, 2, 1, 1)
	e := framework.NewEvaluator(t.Context(), p)
	for _, far := range []float64{1e200, math.Inf(1), math.NaN()} {
		at := start.Clone()
		at[BlockTheta][0], at[BlockTau][7] = 1, far
		cost, err := e.Evaluate(nil, at)
		require.NoError(t, err)
		assert.True(t, math.IsInf(cost, 1), "%g: %g", far, cost)
	}
	fit := learn(t, x, Config{Latent: 2, Loss: fair{}})
	assert.Equal(t, "converged", fit.Model.Meta.Status)
}

// The quantile 1/2 is half of l1, but for another minimum nearby, as its rows are not moved along kinks; of others the
// part below is about p.
// Doubling a denormal number can multiply a norm by 1.5.
func TestNormsDoNotRedescend(t *testing.T) {
	for _, extent := range []float64{0, math.SmallestNonzeroFloat64, 1e-310, 1, 1e300} {
		assert.False(t, redescends(losses.L2(), 3, extent), "extent %g", extent)
	}
}

func TestQuantileSheets(t *testing.T) {
	x, _ := twoSheets(3, 200)
	half, err := losses.Quantile(0.5)
	require.NoError(t, err)
	absolute := learn(t, x, Config{Latent: 2, Loss: losses.L1()}).Model.Meta
	median := learn(t, x, Config{Latent: 2, Loss: half}).Model.Meta
	assert.Equal(t, []string{"converged", "converged"}, []string{absolute.Status, median.Status})
	assert.InEpsilon(t, absolute.Objective, 2*median.Objective, 1e-3)
	high, err := losses.Quantile(0.9)
	require.NoError(t, err)
	fit := learn(t, x, Config{Latent: 1, Loss: high})
	assert.Equal(t, "converged", fit.Model.Meta.Status)
	near, err := fit.Model.Reconstruct(t.Context(), fit.Model.Tau, 1)
	require.NoError(t, err)
	below := 0.
	for k, v := range near {
		if v >= x.X[k] {
			below++
		}
	}
	assert.InDelta(t, 0.9, below/float64(len(near)), 0.08)
}
