package mean

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/solvers"
)

// blackBox hides all that a loss offers but values and gradients.
type blackBox struct{ framework.Loss }

func allLosses(t testing.TB, D int) map[string]framework.Loss {
	t.Helper()
	precision := mat.NewSymDense(D, nil)
	for i := range D {
		for j := i; j < D; j++ {
			precision.SetSym(i, j, math.Pow(0.5, float64(j-i)))
		}
	}
	m, err := losses.Mahalanobis(precision)
	require.NoError(t, err)
	huber, err := losses.Huber(1)
	require.NoError(t, err)
	list := map[string]framework.Loss{
		"l1": losses.L1(), "l2": losses.L2(), "squared_l2": losses.SquaredL2(), "mahalanobis": m, "huber": huber,
		"black box": blackBox{huber},
	}
	for name, p := range map[string]float64{"lp 1.5": 1.5, "lp 3": 3} {
		list[name], err = losses.Lp(p)
		require.NoError(t, err)
	}
	return list
}

// rows are skewed, with weights.
func sampleRows(n, D int) rows.Data {
	rng := rand.New(rand.NewPCG(3, 3))
	x := rows.Data{N: n, D: D, X: make([]float64, n*D), Weights: make([]float64, n)}
	for i := range x.X {
		x.X[i] = rng.NormFloat64() + 0.5*rng.ExpFloat64()
	}
	for i := range x.Weights {
		x.Weights[i] = 0.5 + rng.Float64()
	}
	return x
}

func meanOf(t testing.TB, x rows.Data, loss framework.Loss) *Mean {
	t.Helper()
	m, err := Of(context.Background(), x, Config{Loss: loss, Threads: 1})
	require.NoError(t, err)
	return m
}

func TestMeanProblemLaws(t *testing.T) {
	for name, loss := range allLosses(t, 3) {
		p, err := NewProblem(context.Background(), sampleRows(70, 3), loss, 2)
		require.NoError(t, err)
		frameworktest.TestProblem(t, name, p, frameworktest.ProblemOptions{Seed: 2})
	}
}

func TestMeanKnownAnswers(t *testing.T) {
	x := sampleRows(51, 3)
	average := make([]float64, 3)
	for i := range x.N {
		floats.AddScaled(average, x.Weights[i]/floats.Sum(x.Weights), x.Row(i))
	}
	list := allLosses(t, 3)
	assert.InDeltaSlice(t, average, meanOf(t, x, list["squared_l2"]).C, 1e-7)
	assert.InDeltaSlice(t, average, meanOf(t, x, list["mahalanobis"]).C, 1e-7)
	m := meanOf(t, x, list["l1"])
	assert.InDeltaSlice(t, medians(x), m.C, 1e-4)
	p, err := NewProblem(context.Background(), x, list["l1"], 1)
	require.NoError(t, err)
	least, err := p.Evaluate(nil, framework.Point{medians(x)})
	require.NoError(t, err)
	assert.InEpsilon(t, least, m.Objective, 1e-9)

	// A triangle with an angle above 120 degrees: the corner is the geometric
	// median.
	corner := rows.Data{N: 3, D: 2, X: []float64{0, 0, 1, 0.1, -1, 0.1}}
	assert.InDeltaSlice(t, []float64{0, 0}, meanOf(t, corner, losses.L2()).C, 1e-6)
	// Of an equilateral one it is the centre.
	even := rows.Data{N: 3, D: 2, X: []float64{1, 0, -0.5, math.Sqrt(3) / 2, -0.5, -math.Sqrt(3) / 2}}
	assert.InDeltaSlice(t, []float64{0, 0}, meanOf(t, even, losses.L2()).C, 1e-7)
}

// Every solver finds the same mean.
func TestMeanBySolvers(t *testing.T) {
	x := sampleRows(60, 3)
	for name, loss := range allLosses(t, 3) {
		want := meanOf(t, x, loss)
		require.Equal(t, framework.Converged, want.Run.Status, "%s: %s", name, want.Run.Message)
		for _, inner := range []framework.Solver{solvers.LBFGS{}, solvers.RGD{}} {
			m, err := Of(context.Background(), x, Config{
				Loss: loss, Solver: solvers.Continuation{Inner: inner},
				Options: framework.Options{MaxIterations: 5000, MinRelativeDecrease: -1},
			})
			require.NoError(t, err)
			assert.InEpsilon(t, want.Objective, m.Objective, 1e-7, "%s by %s", name, inner.Name())
		}
	}
}

// The response to weights is what differences say.
func TestSensitivityIsDerivative(t *testing.T) {
	const step = 1e-4
	x := sampleRows(40, 3)
	for name, loss := range allLosses(t, 3) {
		s, err := meanOf(t, x, loss).Sensitivity(context.Background(), x, 1)
		require.NoError(t, err, name)
		assert.Equal(t, name == "l1", s.Rounding > 0, name)
		smooth := s.p.loss
		at := func(x rows.Data) []float64 {
			m, err := Of(context.Background(), x, Config{Loss: smooth, Solver: solvers.LBFGS{}, Options: framework.Options{Tolerance: 1e-13, MinRelativeDecrease: -1, CheckEvery: 1}})
			require.NoError(t, err)
			return m.C
		}
		difference := func(change func(x rows.Data, h float64)) []float64 {
			var ends [2][]float64
			for side, h := range []float64{-step, step} {
				y := x
				y.Weights = slices.Clone(x.Weights)
				change(y, h)
				ends[side] = at(y)
			}
			floats.Sub(ends[1], ends[0])
			floats.Scale(1/(2*step), ends[1])
			return ends[1]
		}
		influence, err := s.Influence()
		require.NoError(t, err)
		for _, i := range []int{0, 13} {
			want := difference(func(y rows.Data, h float64) { y.Weights[i] *= 1 - h })
			assert.InDeltaSlice(t, want, influence[3*i:3*i+3], 1e-5, "%s, row %d", name, i)
		}
	}
}

// Under least squares leaving out a row moves the mean by its residual over n to
// first order; a row twice as far away moves it twice as much, under l2 hardly
// more.
func TestInfluenceOfOutliers(t *testing.T) {
	x := sampleRows(40, 2)
	x.Weights = nil
	far := func(loss framework.Loss, distance float64) float64 {
		y := x
		y.X = slices.Clone(x.X)
		y.X[0], y.X[1] = distance, distance
		m := meanOf(t, y, loss)
		s, err := m.Sensitivity(context.Background(), y, 1)
		require.NoError(t, err)
		influence, err := s.Influence()
		require.NoError(t, err)
		if loss.Name() == "squared_l2" {
			assert.InDelta(t, (m.C[0]-distance)/40, influence[0], 1e-6)
		}
		return floats.Norm(influence[:2], 2)
	}
	assert.InEpsilon(t, 2, far(losses.SquaredL2(), 200)/far(losses.SquaredL2(), 100), 0.02)
	assert.InEpsilon(t, 1, far(losses.L2(), 200)/far(losses.L2(), 100), 0.02)
}

func TestMeanDoesNotDependOnThreads(t *testing.T) {
	x := sampleRows(500, 4)
	for name, loss := range allLosses(t, 4) {
		one := meanOf(t, x, loss)
		many, err := Of(context.Background(), x, Config{Loss: loss, Threads: 7})
		require.NoError(t, err)
		assert.Equal(t, one.C, many.C, name)
	}
}

func TestMeanRefusals(t *testing.T) {
	x := sampleRows(5, 2)
	ctx := context.Background()
	_, err := Of(ctx, x, Config{})
	assert.ErrorIs(t, err, rows.ErrInput)
	_, err = Of(ctx, rows.Data{N: 1, D: 1, X: []float64{math.NaN()}}, Config{Loss: losses.L2()})
	assert.ErrorContains(t, err, "row 0, column 0 is NaN")
	_, err = Of(ctx, rows.Data{N: 2, D: 1, X: []float64{1, math.NaN()}, Missing: true}, Config{Loss: losses.L1()})
	assert.ErrorContains(t, err, "row 1, column 0 is NaN (missing): fill it in")
	_, err = Of(ctx, x, Config{Loss: allLosses(t, 3)["mahalanobis"]})
	assert.ErrorContains(t, err, "rows of length 3")

	m := meanOf(t, x, losses.L2())
	_, err = m.Sensitivity(ctx, sampleRows(5, 3), 1)
	assert.ErrorContains(t, err, "3 columns")

	equal := rows.Data{N: 3, D: 2, X: []float64{1, 2, 1, 2, 1, 2}}
	m = meanOf(t, equal, losses.L2())
	assert.Equal(t, []float64{1, 2}, m.C)
	_, err = m.Sensitivity(ctx, equal, 1)
	assert.ErrorContains(t, err, "all rows are equal")
	_, err = meanOf(t, equal, allLosses(t, 2)["lp 3"]).Sensitivity(ctx, equal, 1)
	assert.ErrorIs(t, err, ErrNoCurvature)

	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = m.Sensitivity(cancelled, x, 1)
	assert.ErrorIs(t, err, context.Canceled)
}

// On an even number of rows every point between the middle ones is a median, and
// a point beyond them is none.
func TestStationarityKnowsSubgradients(t *testing.T) {
	x := rows.Data{N: 4, D: 1, X: []float64{0, 1, 3, 10}}
	p, err := NewProblem(context.Background(), x, losses.L1(), 1)
	require.NoError(t, err)
	for _, c := range []struct{ at, want float64 }{{1, 0}, {2, 0}, {3, 0}, {0.5, 0.5}, {10, 0.5}, {11, 1}} {
		var got [1]float64
		require.NoError(t, p.Stationarity(got[:], framework.Point{{c.at}}))
		assert.InDelta(t, c.want, got[0], 1e-15, "at %v", c.at)
	}
}

// Kinks behind two methods are rounded as well; redescending losses and quantiles have means too.
func TestMeansOfOtherLosses(t *testing.T) {
	x := sampleRows(51, 3)
	list := allLosses(t, 3)
	bare := meanOf(t, x, struct{ framework.Loss }{list["l1"]})
	assert.InEpsilon(t, meanOf(t, x, list["l1"]).Objective, bare.Objective, 1e-6)
	low, err := losses.Quantile(0.2)
	require.NoError(t, err)
	m := meanOf(t, x, low)
	for k := range 3 {
		var below, total float64
		for i := range x.N {
			if total += x.Weight(i); x.Row(i)[k] < m.C[k] {
				below += x.Weight(i)
			}
		}
		assert.InDelta(t, 0.2, below/total, 0.05)
	}
	far := rows.Data{N: 10, D: 2, X: make([]float64, 20)}
	for i := range far.N {
		far.X[2*i], far.X[2*i+1] = float64(i%3), float64(i%2)
		if i > 6 {
			far.X[2*i] += 100
		}
	}
	for _, name := range []string{"tukey", "welsch", "cauchy", "geman_mcclure"} {
		l, err := DefaultLoss(t.Context(), name, far, 1)
		require.NoError(t, err)
		m := meanOf(t, far, l)
		assert.Less(t, m.C[0], 2., name)
		assert.Equal(t, framework.Converged, m.Run.Status, name)
	}
}

// One entry near the end of float64 is an error with its row, and no NaN; rows that are all of that size have a mean.
func TestEntriesOfAllSizes(t *testing.T) {
	ctx := context.Background()
	for name, loss := range map[string]framework.Loss{"l2": losses.L2(), "l1": losses.L1(), "squared_l2": losses.SquaredL2()} {
		for _, size := range []float64{1e-300, 1e-30, 1, 1e30, 1e153} {
			x := rows.Data{N: 5, D: 2, X: []float64{0, 0, 1, 2, 2, 1, 3, 3, 4, 9}}
			want, err := Of(ctx, x, Config{Loss: loss})
			require.NoError(t, err)
			for i := range x.X {
				x.X[i] *= size
			}
			m, err := Of(ctx, x, Config{Loss: loss})
			if err != nil { // sums of squares are not numbers
				require.ErrorIs(t, err, rows.ErrInput)
				continue
			}
			for k, v := range m.C {
				assert.InEpsilon(t, want.C[k], v/size, 1e-6, "%s at %g", name, size)
			}
		}
		x := rows.Data{N: 4, D: 2, X: []float64{0, 0, 1, 2, 2, 1, 3, 1e308}}
		_, err := Of(ctx, x, Config{Loss: loss})
		assert.ErrorContains(t, err, "row 3 is", name)
	}
}
