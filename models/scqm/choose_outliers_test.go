package scqm

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
)

// Outlying entries are told from outlying rows by how they are spread, and few of them
// are neither.
func TestOutliers(t *testing.T) {
	const n, D = 200, 8
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 5))
		noise := Data{N: n, D: D, X: make([]float64, n*D)}
		require.NoError(t, losses.GeneralizedGaussianNoise(noise.X, 2, 1, rng))
		count := func(s spoilt) outliers { return countOutliers(spoil(noise, s, rng).X, D, 0) }

		clean := count(spoilt{})
		assert.False(t, clean.many() || clean.wholeRows(), "seed %d: %v", seed, clean)
		for _, part := range []float64{0.01, 0.05, 0.1} {
			entries := count(spoilt{part: part, size: 10})
			assert.True(t, entries.many(), "seed %d, %g: %v", seed, part, entries)
			assert.InDelta(t, part, entries.share, 0.002)
			rows := count(spoilt{part: part, size: 10, rows: true})
			assert.True(t, rows.wholeRows(), "seed %d, %g: %v", seed, part, rows)
			assert.Greater(t, rows.clustered, 0.9)
		}
	}
	assert.Zero(t, countOutliers(make([]float64, n*D), D, 2))
}

// Columns with half of their entries on the sheet, and columns in other units, have no
// outlying entries for that.
func TestOutliersOfUnlikeColumns(t *testing.T) {
	const n, D = 200, 6
	rng := rand.New(rand.NewPCG(7, 5))
	r := make([]float64, n*D)
	for k := range r {
		switch v := rng.NormFloat64(); {
		case k%D == 0 && rng.IntN(4) > 0:
		case k%D == 1:
			r[k] = 1e3 * v
		case k%D == 2:
			r[k] = 1e-3 * v
		default:
			r[k] = v
		}
	}
	assert.Less(t, countOutliers(r, D, 0).share, 0.001)
}

// A sheet that is bent towards spoilt entries has the larger bounded error.
func TestBoundedErrorFindsTheBentSheet(t *testing.T) {
	x := spoil(bowlRows(t, 100, 10, 0, 4), spoilt{part: 0.05, size: 10}, rand.New(rand.NewPCG(4, 1)))
	c := Config{Latent: 2, Loss: losses.SquaredL2()}
	bent := &Fit{Model: learn(t, x, c).Model}
	good := learn(t, bowlRows(t, 100, 10, 0, 4), c).Model
	residuals, err := bent.Model.residuals(t.Context(), x, 1)
	require.NoError(t, err)
	h, err := bent.newComparison(t.Context(), x, residuals, c)
	require.NoError(t, err)
	v, err := h.against(t.Context(), good)
	require.NoError(t, err)
	assert.Less(t, v.ratio, 0.9)
	assert.Less(t, v.errors, -2.0)
	assert.True(t, h.far.many(), h.far)
}

// A loss that rows held out prefer is not taken if its fit to all rows has been bent.
func TestBentFitOfARivalIsNotTaken(t *testing.T) {
	x := spoil(bowlRows(t, 100, 10, 0, 4), spoilt{part: 0.05, size: 10}, rand.New(rand.NewPCG(4, 1)))
	c := Config{Latent: 2, Curvature: FullCurvature, Loss: losses.L2()}
	compare := func(y Data) *comparison {
		f := &Fit{Model: learn(t, y, c).Model}
		residuals, err := f.Model.residuals(t.Context(), x, 1)
		require.NoError(t, err)
		h, err := f.newComparison(t.Context(), x, residuals, c)
		require.NoError(t, err)
		return h
	}
	good, spoilt := compare(bowlRows(t, 100, 10, 0, 4)), compare(x) // by l2 of right rows, and of these
	for _, r := range []struct {
		loss framework.Loss
		from *comparison
		bent bool
	}{{losses.SquaredL2(), good, true}, {losses.L2(), spoilt, false}} {
		tried := &rival{loss: r.loss}
		bent, err := tried.bent(t.Context(), x, c, r.from)
		require.NoError(t, err)
		assert.Equal(t, r.bent, bent, tried.told)
		assert.Equal(t, r.loss.Name(), tried.fit.Model.Loss.Name())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stopped := &rival{loss: losses.SquaredL2()}
	bent, err := stopped.bent(ctx, x, c, good)
	assert.False(t, bent)
	assert.True(t, err != nil || stopped.fit.Run.Status == framework.Cancelled, "%v", err)
}
