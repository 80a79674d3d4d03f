package scqm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
)

// Many fits are those of Learn, one by one and bit by bit, for any loss, shape and number of threads.
func TestFitManyIsLearn(t *testing.T) {
	sets := neighbourhoods(drill.Cases(t, "many-fits", 3))
	flat := Data{N: 20, D: 3, X: make([]float64, 60)} // all of it on a line
	for i := range flat.N {
		flat.X[3*i] = float64(i * i)
	}
	weighted := Data{N: 30, D: 3, X: gaussians(8, 90), Weights: make([]float64, 30)}
	for i := range weighted.Weights {
		weighted.Weights[i] = float64(i % 3)
	}
	huge := Data{N: 20, D: 3, X: gaussians(9, 60)}
	floats.Scale(1e20, huge.X)
	sets = append(sets, flat, weighted, huge, Data{N: 3, D: 3, X: gaussians(10, 9)})
	for _, name := range []string{"squared_l2", "huber", "l2", "lp 1.5"} {
		for _, curvature := range []int{AutoCurvature, FullCurvature, 2} {
			c := Config{Latent: 1, Curvature: curvature, Loss: named(t, name, 3), Ridge: 10, Seed: 3}
			for _, threads := range []int{1, 3} {
				c.Threads = threads
				fits, err := FitMany(context.Background(), sets, c)
				require.NoError(t, err)
				for i, fit := range fits {
					want, err := Learn(context.Background(), sets[i], c)
					require.NoError(t, err)
					assertLearned(t, fit, want, fmt.Sprintf("%s, s = %d, %d threads, fit %d", name, curvature, threads, i))
				}
			}
		}
	}
}

// assertLearned checks a fit against that of Learn.
func assertLearned(t *testing.T, fit, want *Fit, label string) {
	t.Helper()
	a, b := fit.Model, want.Model
	assert.Equal(t, [][]float64{b.C, b.U, b.V, b.Theta, b.Tau}, [][]float64{a.C, a.U, a.V, a.Theta, a.Tau}, label)
	assert.Equal(t, b.Meta, a.Meta, label)
	assert.Empty(t, fit.Run.History, label)
}

func TestFitManyErrorsNameTheFit(t *testing.T) {
	ctx, c := context.Background(), Config{Latent: 2, Loss: losses.SquaredL2()}
	sets := neighbourhoods(3)
	sets[2].X[3*17+1] = math.NaN()
	_, err := FitMany(ctx, sets, c)
	assert.EqualError(t, err, `scqm: fit 2: row 17, column 1 is NaN (missing): fill it in, leave out its row, or ignore what is missing (missing="ignore", --missing ignore): `+ErrInput.Error())
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

// LossOf makes a loss for every set.
func TestFitManyWithLossesOfTheirOwn(t *testing.T) {
	sets := neighbourhoods(3)
	many := Many{Config: Config{Latent: 2, Curvature: FullCurvature, Ridge: 10}, LossOf: func(x Data) (framework.Loss, error) {
		norms, err := ResidualNorms(x, 2)
		if err != nil {
			return nil, err
		}
		return losses.Huber(losses.DefaultDelta("huber", norms))
	}}
	require.NoError(t, many.Each(context.Background(), sets, func(i int, fit *Fit) error {
		c := many.Config
		var err error
		c.Loss, err = many.LossOf(sets[i])
		require.NoError(t, err)
		assertLearned(t, fit, learn(t, sets[i], c), fmt.Sprintf("fit %d", i))
		return nil
	}))
}

func BenchmarkFitMany(b *testing.B) {
	sets := neighbourhoods(100)
	for _, name := range []string{"squared_l2", "huber", "l2", "lp 1.5"} {
		b.Run(name, func(b *testing.B) {
			c := Config{Latent: 2, Loss: named(b, name, 3), Ridge: 10, Threads: 1}
			for b.Loop() {
				if _, err := FitMany(context.Background(), sets, c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(sets)), "us/fit")
		})
	}
}
