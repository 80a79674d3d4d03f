package scqm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/solvers"
)

// hostileData returns data sets that are degenerate, badly scaled or poisoned.
func hostileData() map[string]Data {
	list := map[string]Data{}
	add := func(name string, n, D int, fill func(rng *rand.Rand, i, j int) float64) {
		rng := rand.New(rand.NewPCG(uint64(len(list)), 9))
		x := Data{N: n, D: D, X: make([]float64, n*D)}
		for i := range n {
			for j := range D {
				x.X[i*D+j] = fill(rng, i, j)
			}
		}
		list[fmt.Sprintf("%s %dx%d", name, n, D)] = x
	}
	gauss := func(rng *rand.Rand, _, _ int) float64 { return rng.NormFloat64() }
	for _, shape := range [][2]int{{1, 3}, {2, 3}, {3, 5}, {4, 2}, {12, 4}, {40, 3}} {
		n, D := shape[0], shape[1]
		add("gaussian", n, D, gauss)
		add("constant", n, D, func(*rand.Rand, int, int) float64 { return 7 })
		add("zero", n, D, func(*rand.Rand, int, int) float64 { return 0 })
		add("collinear", n, D, func(_ *rand.Rand, i, j int) float64 { return float64(i * (j + 1)) })
		add("pairs of duplicates", n, D, func(_ *rand.Rand, i, j int) float64 { return math.Sin(float64(i/2*7 + j)) })
		add("constant column", n, D, func(rng *rand.Rand, _, j int) float64 { return rng.NormFloat64() * float64(min(j, 1)) })
		add("offset 1e8", n, D, func(rng *rand.Rand, _, _ int) float64 { return 1e8 + rng.NormFloat64() })
		add("1e100", n, D, func(rng *rand.Rand, _, _ int) float64 { return 1e100 * rng.NormFloat64() })
		add("1e-100", n, D, func(rng *rand.Rand, _, _ int) float64 { return 1e-100 * rng.NormFloat64() })
		add("1e-300", n, D, func(rng *rand.Rand, _, _ int) float64 { return 1e-300 * rng.NormFloat64() })
		add("denormal", n, D, func(_ *rand.Rand, i, j int) float64 { return math.SmallestNonzeroFloat64 * float64(i+j) })
		add("1e300", n, D, func(rng *rand.Rand, _, _ int) float64 { return 1e300 * rng.NormFloat64() })
		add("mixed scales", n, D, func(rng *rand.Rand, _, j int) float64 { return math.Pow(10, float64(6*j-6)) * rng.NormFloat64() })
		add("outlier 1e12", n, D, func(rng *rand.Rand, i, _ int) float64 {
			if i == 0 {
				return 1e12
			}
			return rng.NormFloat64()
		})
		add("parabola", n, D, func(_ *rand.Rand, i, j int) float64 { return math.Pow(float64(i)/float64(n)-0.5, float64(j%2+1)) })
		add("two clusters", n, D, func(rng *rand.Rand, i, _ int) float64 { return 1e6*float64(i%2) + 1e-6*rng.NormFloat64() })
	}
	return list
}

// Whatever the data, every solver ends with a usable model or a clear error, and
// never says converged where the first-order system says otherwise.
func TestHostileInputs(t *testing.T) {
	for _, s := range solvers.Describe() {
		// Streams find every tau anew in every pass: short of a whole drill they see fewer.
		every, least := 2, 300
		if s.Name == (solvers.Streaming{}).Name() && !drill.Whole() {
			every, least = 8, 70
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			solver, err := solvers.ByName(s.Name)
			assert.NoError(t, err)
			inputs := 0
			for name, x := range hostileData() {
				for k, loss := range []string{"l2", "squared_l2", "l1", "lp 1.5", "huber", "lp 4", "mahalanobis"} {
					if (len(name)+k)%every != 0 {
						continue
					}
					inputs++
					c := Config{Latent: 1 + len(name)%min(2, x.D), Loss: named(t, loss, x.D), Solver: solver, Threads: 1}
					c.Ridge = float64(k%2) / 10
					c.Options.MaxIterations = 40
					checkHostile(t, fmt.Sprintf("%s, %s, d = %d", name, loss, c.Latent), x, c)
				}
			}
			assert.GreaterOrEqual(t, inputs, least)
		})
	}
}

func checkHostile(t *testing.T, label string, x Data, c Config) {
	before := append([]float64(nil), x.X...)
	fit, err := Learn(context.Background(), x, c)
	assert.True(t, floats.Equal(before, x.X), "%s: the data are changed", label)
	if fit == nil {
		assert.True(t, errors.Is(err, ErrInput), "%s: %v", label, err)
		return
	}
	if err != nil && !errors.Is(err, framework.ErrNonFinite) {
		assert.NoError(t, err, label)
		return
	}
	meta := fit.Model.Meta
	assert.NoError(t, fit.Model.Validate(), label)
	assert.False(t, math.IsNaN(meta.Objective) || math.IsInf(meta.Objective, 0), label)
	if meta.Status == "converged" {
		for _, v := range meta.Stationarity {
			assert.LessOrEqual(t, v, framework.DefaultTolerance, label)
		}
	}
	if _, err := fit.Model.Project(context.Background(), x, 1); err != nil {
		assert.ErrorIs(t, err, ErrInput, label)
	}
}
