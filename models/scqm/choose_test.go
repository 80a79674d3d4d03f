package scqm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
)

// noises fill rows of length D with noise of about unit size.
var noises = []struct {
	name string
	draw func(dst []float64, D int, rng *rand.Rand) error
}{
	{"Gaussian", func(dst []float64, _ int, rng *rand.Rand) error {
		return losses.GeneralizedGaussianNoise(dst, 2, math.Sqrt2, rng)
	}},
	{"Laplace", func(dst []float64, _ int, rng *rand.Rand) error {
		return losses.GeneralizedGaussianNoise(dst, 1, 1, rng)
	}},
	{"radial Laplace", func(dst []float64, D int, rng *rand.Rand) error {
		return losses.RadialLaplaceNoise(dst, D, 1/math.Sqrt(float64(D)), rng)
	}},
	{"Student t, 3 degrees of freedom", func(dst []float64, _ int, rng *rand.Rand) error {
		for i := range dst {
			a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
			dst[i] = rng.NormFloat64() / math.Sqrt((a*a+b*b+c*c)/3)
		}
		return nil
	}},
	{"10 % outliers", func(dst []float64, D int, rng *rand.Rand) error {
		for i := range dst {
			dst[i] = rng.NormFloat64()
			if i/D%10 == 0 {
				dst[i] *= 10
			}
		}
		return nil
	}},
	{"uniform", func(dst []float64, _ int, rng *rand.Rand) error {
		for i := range dst {
			dst[i] = math.Sqrt(3) * (2*rng.Float64() - 1)
		}
		return nil
	}},
}

// bowlRows are rows near a paraboloid in D dimensions.
func bowlRows(t *testing.T, n, D, noise int, seed uint64) Data {
	rng := rand.New(rand.NewPCG(seed, 12))
	x := Data{N: n, D: D, X: make([]float64, n*D)}
	require.NoError(t, noises[noise].draw(x.X, D, rng))
	for i := range n {
		r := x.Row(i)
		floats.Scale(0.1, r)
		a, b := 4*rng.Float64()-2, 4*rng.Float64()-2
		r[0] += a
		r[1] += b
		r[2] += (a*a + b*b) / 3
	}
	return x
}

// The loss chosen is within 2 % of the best single one, on rows held out, under
// each of six noises; and it is a loss of entries where entries are independent
// and far from Gaussian, and one of norms where they are not.
func TestLearnLossNearTheBest(t *testing.T) {
	const D = 12
	for k, noise := range noises {
		x, held := bowlRows(t, 100, D, k, 1), bowlRows(t, 100, D, k, 2)
		fit, err := LearnLoss(t.Context(), x, Config{Latent: 2, Curvature: 1})
		require.NoError(t, err)
		chosen := heldOut(t, fit.Model, held)
		best := math.Inf(1)
		for _, loss := range singleLosses(t) {
			best = min(best, heldOut(t, learn(t, x, Config{Latent: 2, Curvature: 1, Loss: loss}).Model, held))
		}
		notes := fit.Model.Meta.Notes
		require.NotEmpty(t, notes)
		t.Logf("%s: %.4f of the best; %s", noise.name, chosen/best, notes[len(notes)-1])
		assert.Less(t, chosen, 1.02*best, noise.name)
		switch noise.name {
		case "Laplace":
			assert.Contains(t, []string{"l1", "lp"}, fit.Model.Loss.Name())
		case "uniform":
			assert.Equal(t, "lp", fit.Model.Loss.Name())
		case "Gaussian", "radial Laplace", "10 % outliers":
			assert.Contains(t, []string{"l2", "squared_l2", "huber"}, fit.Model.Loss.Name())
		}
	}
}

func singleLosses(t *testing.T) []framework.Loss {
	list := []framework.Loss{losses.L2(), losses.SquaredL2(), losses.L1()}
	for _, p := range []float64{4} {
		loss, err := losses.Lp(p)
		require.NoError(t, err)
		list = append(list, loss)
	}
	return list
}

// heldOut is the mean distance of rows from the sheet, found by the plain distance
// for every loss.
func heldOut(t *testing.T, m *Model, x Data) float64 {
	plain := *m
	plain.Loss = losses.L2()
	y, err := plain.Project(t.Context(), x, 0)
	require.NoError(t, err)
	var sum float64
	for i := range x.N {
		sum += floats.Distance(x.Row(i), y[i*x.D:(i+1)*x.D], 2)
	}
	return sum / float64(x.N)
}

// With few directions off the sheet residuals cannot tell.
func TestLearnLossRefusesToChoose(t *testing.T) {
	x := bowlRows(t, 200, 5, 1, 3)
	fit, err := LearnLoss(t.Context(), x, Config{Latent: 2})
	require.NoError(t, err)
	assert.Equal(t, "l2", fit.Model.Loss.Name())
	notes := fit.Model.Meta.Notes
	require.NotEmpty(t, notes)
	assert.Equal(t, "kept the loss l2: with 3 directions off the sheet, residuals cannot tell what the noise is; at least 4 are needed", notes[len(notes)-1])

	_, err = LearnLoss(t.Context(), x, Config{Latent: 2, Loss: losses.L1()})
	require.ErrorIs(t, err, ErrInput)
}
