package selection

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
)

// Outlying entries are told from outlying rows by how they are spread, and few of them
// are neither.
func TestOutliers(t *testing.T) {
	const n, D = 200, 8
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 5))
		noise := scqm.Data{N: n, D: D, X: make([]float64, n*D)}
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
	c := scqm.Config{Latent: 2, Loss: losses.SquaredL2()}
	good := fitTo(t, bowlRows(t, 100, 10, 0, 4), c).Model
	h, err := newComparison(t.Context(), fitTo(t, x, c).Model, x, 0.1, 1)
	require.NoError(t, err)
	ratio, err := h.ratio(t.Context(), good)
	require.NoError(t, err)
	assert.Less(t, ratio, 0.9)
	assert.True(t, h.outliers.many(), h.outliers)
}
