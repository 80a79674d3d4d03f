package scqm

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
)

// spoiltParabola has gross outliers in one row of ten.
func spoiltParabola() Data {
	rng := rand.New(rand.NewPCG(1, 2))
	x := Data{N: 300, D: 3, X: make([]float64, 900)}
	for i := range x.N {
		s, row, size := 2*rng.Float64()-1, x.Row(i), 0.02
		if row[0], row[1] = s, s*s; i%10 == 0 {
			size = 1
		}
		for k := range row {
			row[k] += size * rng.NormFloat64()
		}
	}
	return x
}

// A loss that hides all but its two methods has the minimum of the one that it hides.
func TestKinksBehindTwoMethods(t *testing.T) {
	x := spoiltParabola()
	half, err := losses.Quantile(0.5)
	require.NoError(t, err)
	list := []framework.Loss{losses.L1(), losses.L2(), half, losses.SquaredL2()}
	for _, name := range []string{"tukey", "cauchy", "welsch", "geman_mcclure"} {
		l, err := losses.ByName(name, losses.Params{Delta: new(0.3)})
		require.NoError(t, err)
		list = append(list, l)
	}
	for _, l := range list {
		want := learn(t, x, Config{Latent: 1, Loss: l}).Model
		got := learn(t, x, Config{Latent: 1, Loss: blackBox{Loss: l}}).Model
		t.Logf("%s: %.6f %s, behind two methods %.6f %s %s", l.Name(), want.Meta.Objective, want.Meta.Status, got.Meta.Objective, got.Meta.Status, got.Meta.Message)
		assert.InEpsilon(t, want.Meta.Objective, got.Meta.Objective, 1e-3, l.Name())
	}
}

// Streams and small fits have the same door, and projections the rounded loss.
func TestKinksAtOtherDoors(t *testing.T) {
	x := spoiltParabola()
	bare := blackBox{Loss: losses.L1()}
	_, err := LearnFrom(t.Context(), &LocalEngine{Source: x, Loss: bare}, Config{Latent: 1, Loss: bare})
	require.ErrorContains(t, err, "let the loss implement framework.Smoother")
	high, err := losses.Quantile(0.9)
	require.NoError(t, err)
	_, err = Learn(t.Context(), x, Config{Latent: 1, Loss: blackBox{Loss: high}})
	require.ErrorContains(t, err, "scqm: losses: the gradient of the loss quantile jumps")
	_, err = NewFitter(t.Context(), 30, 3, Config{Latent: 1, Loss: blackBox{Loss: high}})
	require.ErrorIs(t, err, framework.ErrInvalid)
	m := learn(t, x, Config{Latent: 1, Loss: losses.L1()}).Model
	want, err := m.Transform(t.Context(), x, 1)
	require.NoError(t, err)
	m.Loss = bare
	got, err := m.Transform(t.Context(), x, 1)
	require.NoError(t, err)
	for i := range x.N {
		assert.LessOrEqual(t, lossAt(t, m, x.Row(i), got[i:i+1]), lossAt(t, m, x.Row(i), want[i:i+1])*(1+1e-3), i)
	}
}
