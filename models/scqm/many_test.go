package scqm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
)

// Many fits are those of Learn, one by one, by any loss and from curvature that is
// gentle to folded, and the same for any number of threads.
func TestFitManyIsLearn(t *testing.T) {
	sets := neighbourhoods(drill.Cases(t, "many-fits", 4))
	for _, name := range []string{"squared_l2", "huber", "lp 4", "mahalanobis", "l2", "lp 1.5"} {
		for _, ridge := range []float64{10, 1e-3} {
			c := Config{Latent: 2, Curvature: FullCurvature, Loss: named(t, name, 3), Ridge: ridge, Threads: 1}
			fits, err := FitMany(context.Background(), sets, c)
			require.NoError(t, err)
			c.Threads = 3
			again, err := FitMany(context.Background(), sets, c)
			require.NoError(t, err)
			for i, fit := range fits {
				label := fmt.Sprintf("%s, ridge %v, fit %d", name, ridge, i)
				a, b := fit.Model, again[i].Model
				assert.Equal(t, [][]float64{a.C, a.U, a.V, a.Theta, a.Tau}, [][]float64{b.C, b.U, b.V, b.Theta, b.Tau}, label)
				assert.Equal(t, a.Meta, b.Meta, label)
				assertLearned(t, fit, learn(t, sets[i], c), sets[i], label)
			}
		}
	}
}

// assertLearned checks a fit against that of Learn.
func assertLearned(t *testing.T, fit, want *Fit, x Data, label string) {
	t.Helper()
	got, learned := fit.Model.Meta, want.Model.Meta
	assert.Equal(t, learned.Status, got.Status, label)
	assert.InEpsilon(t, learned.Objective+learned.Penalty, got.Objective+got.Penalty, 1e-7, label)
	assert.InDeltaSlice(t, learned.Explained, got.Explained, 1e-4, label)
	assert.InDeltaSlice(t, learned.Mean, got.Mean, 1e-12, label)
	assert.InDelta(t, learned.CurvatureExtent, got.CurvatureExtent, 1e-3*learned.CurvatureExtent, label)
	for _, m := range []*Meta{&learned, &got} { // what depends on the way
		m.Objective, m.Penalty, m.MeanLoss, m.CurvatureExtent, m.Iterations, m.Evaluations, m.KKT, m.Stationarity, m.Message = 0, 0, 0, 0, 0, 0, nil, nil, ""
		m.Mean, m.Explained, m.Evidence, m.Warnings = nil, nil, nil, nil
		if len(m.Notes) == 0 {
			m.Notes = nil
		}
	}
	assert.Equal(t, learned, got, label)
	assertDelivered(t, fit.Model, x, fit.Model.Meta.Objective)
	for i, v := range want.Model.C {
		assert.InDelta(t, v, fit.Model.C[i], 1e-3, label)
	}
}

// Sets of many shapes, some of which only Learn can fit.
func TestFitManyShapes(t *testing.T) {
	c := Config{Latent: 1, Loss: losses.SquaredL2(), Curvature: 2}
	var sets []Data
	for _, n := range []int{2, 3, 40, 7, 40} {
		sets = append(sets, Data{N: n, D: 3, X: gaussians(uint64(100+n), 3*n)})
	}
	flat := Data{N: 20, D: 3, X: make([]float64, 60)} // all of it on a line
	for i := range flat.N {
		flat.X[3*i] = float64(i * i)
	}
	weighted := Data{N: 30, D: 3, X: gaussians(8, 90), Weights: make([]float64, 30)}
	for i := range weighted.Weights {
		weighted.Weights[i] = float64(i % 3)
	}
	huge := Data{N: 20, D: 3, X: gaussians(9, 60)}
	for i := range huge.X {
		huge.X[i] *= 1e40
	}
	sets = append(sets, flat, weighted, huge)
	fits, err := FitMany(context.Background(), sets, c)
	require.NoError(t, err)
	for i, fit := range fits {
		want := learn(t, sets[i], c)
		assert.InDelta(t, want.Model.Meta.Objective+want.Model.Meta.Penalty, fit.Model.Meta.Objective+fit.Model.Meta.Penalty, 1e-7*fit.Model.Meta.Objective, "fit %d", i)
		assert.Equal(t, 2, fit.Model.Curvature)
		assert.Len(t, fit.Model.Tau, sets[i].N)
		assert.Equal(t, want.Model.Meta.Notes, fit.Model.Meta.Notes, "fit %d", i)
	}
}

func TestFitManyErrorsNameTheFit(t *testing.T) {
	ctx, c := context.Background(), Config{Latent: 2, Loss: losses.SquaredL2()}
	sets := neighbourhoods(3)
	sets[2].X[3*17+1] = math.NaN()
	_, err := FitMany(ctx, sets, c)
	assert.EqualError(t, err, "scqm: fit 2: row 17, column 1 is NaN; remove or impute it first: "+ErrInput.Error())
	assert.ErrorIs(t, err, ErrInput)
	sets[2].X[3*17+1] = 0
	_, err = FitMany(ctx, sets, Config{Latent: 4, Loss: losses.SquaredL2()})
	assert.ErrorContains(t, err, "fit 0: latent dimension 4 does not fit rows of length 3")

	// Of several that fail, the first counts, whoever was there first.
	bad := errors.New("not this one")
	for range 20 {
		c.Threads = 3
		err = Many{Config: c}.Each(ctx, sets, func(i int, _ *Fit) error {
			if i > 0 {
				return bad
			}
			return nil
		})
		failure := new(FitError)
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, 1, failure.Fit)
		assert.ErrorIs(t, err, bad)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	_, err = FitMany(done, sets, c)
	assert.ErrorIs(t, err, context.Canceled)
	fits, err := FitMany(ctx, nil, c)
	assert.NoError(t, err)
	assert.Empty(t, fits)
}

// Rough fits end above those of Learn by little, say how far they are from
// stationary, and warn of nothing.
func TestRoughFits(t *testing.T) {
	sets := neighbourhoods(4)
	for name, excess := range map[string]float64{"squared_l2": 1e-5, "l2": 0.03, "lp 1.5": 1e-3} {
		c := Config{Latent: 2, Loss: named(t, name, 3), Ridge: 10}
		err := Many{Config: c, Rough: true}.Each(context.Background(), sets, func(i int, fit *Fit) error {
			want := learn(t, sets[i], c)
			assert.LessOrEqual(t, fit.Run.Cost, want.Run.Cost*(1+excess), "%s, fit %d", name, i)
			worst := 0.0
			for _, v := range fit.Run.Stationarity {
				worst = max(worst, v)
			}
			assert.Equal(t, worst <= framework.DefaultTolerance, fit.Run.Status == framework.Converged)
			assert.Empty(t, fit.Model.Meta.Warnings)
			return nil
		})
		require.NoError(t, err)
	}
}

// LossOf makes a loss for every set.
func TestFitManyWithLossesOfTheirOwn(t *testing.T) {
	sets := neighbourhoods(3)
	many := Many{Config: Config{Latent: 2, Curvature: FullCurvature, Ridge: 10}, LossOf: func(x Data) (framework.Loss, error) {
		norms, err := ResidualNorms(x, 2)
		if err != nil {
			return nil, err
		}
		return losses.Huber(losses.DefaultHuberDelta(norms))
	}}
	require.NoError(t, many.Each(context.Background(), sets, func(i int, fit *Fit) error {
		c := many.Config
		var err error
		c.Loss, err = many.LossOf(sets[i])
		require.NoError(t, err)
		assertLearned(t, fit, learn(t, sets[i], c), sets[i], fmt.Sprintf("fit %d", i))
		return nil
	}))
}

// Pairs of steps take fewer iterations along the valleys of noisy sets, and no more cost.
func TestPairsOfSteps(t *testing.T) {
	pairs, single := 0, 0
	for i, x := range neighbourhoods(12) {
		c := Config{Latent: 2, Loss: losses.SquaredL2(), Ridge: 1, Threads: 1}
		many, err := FitMany(context.Background(), []Data{x}, c)
		require.NoError(t, err)
		own := learn(t, x, c)
		assert.LessOrEqual(t, many[0].Run.Cost, own.Run.Cost*(1+1e-7), "fit %d", i)
		pairs += many[0].Run.Iterations
		single += own.Run.Iterations
	}
	assert.Less(t, float64(pairs), 0.85*float64(single), "%d and %d iterations", pairs, single)
}

func BenchmarkFitMany(b *testing.B) {
	sets := neighbourhoods(100)
	for _, name := range []string{"squared_l2", "huber", "l2", "lp 1.5"} {
		for _, rough := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/rough=%v", name, rough), func(b *testing.B) {
				many := Many{Config: Config{Latent: 2, Loss: named(b, name, 3), Ridge: 10, Threads: 1}, Rough: rough}
				for b.Loop() {
					if err := many.Each(context.Background(), sets, func(int, *Fit) error { return nil }); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(sets)), "us/fit")
			})
		}
	}
}
