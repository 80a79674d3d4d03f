package scqm

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/losses"
)

// A flat sheet by least squares has the mean and the variances of principal components,
// whatever the unit.
func TestExplainedVariance(t *testing.T) {
	for _, unit := range []float64{1, 1e-25, 1e25} {
		x := Data{N: 200, D: 3, X: gaussians(4, 600)}
		for i := range x.N {
			x.X[3*i] = unit * (3*x.X[3*i] + 1)
			x.X[3*i+1] *= 2 * unit
			x.X[3*i+2] *= unit
		}
		fit := learn(t, x, Config{Latent: 3, Loss: losses.SquaredL2(), Linear: true})
		meta := fit.Model.Meta
		require.Len(t, meta.Explained, 3)
		assert.InDelta(t, 1, floats.Sum(meta.Explained), 1e-9)
		assert.InDeltaSlice(t, []float64{9. / 14, 4. / 14, 1. / 14}, meta.Explained, 0.1)
		assert.InDelta(t, 1, meta.Mean[0]/unit, 0.7)
		require.NotNil(t, meta.R2)
		assert.InDelta(t, 1, *meta.R2, 1e-12)

		flat := learn(t, x, Config{Latent: 1, Loss: losses.SquaredL2(), Linear: true}).Model.Meta
		assert.InDelta(t, flat.R2PCA[0], *flat.R2, 1e-9, "principal components")
		assert.InDelta(t, flat.Explained[0], *flat.R2, 1e-9)
		far := math.Pow(flat.Distances[0], 1.5)
		assert.InDelta(t, math.Sqrt(5*math.Ln2)*unit, far, 0.6*unit, "of two directions")
	}
}

// A parabola has R2 of a sheet of one coordinate near that of two principal components. Entries that are missing
// do not count.
func TestDetermination(t *testing.T) {
	x := Data{N: 300, D: 3, X: gaussians(6, 900)}
	for i := range x.N {
		s := x.X[3*i]
		x.X[3*i+1] = s*s + 0.1*x.X[3*i+1]
		x.X[3*i+2] *= 0.1
	}
	c := Config{Latent: 1, Loss: losses.SquaredL2()}
	meta := learn(t, x, c).Model.Meta
	require.Len(t, meta.R2PCA, 2)
	assert.Greater(t, *meta.R2, meta.R2PCA[0]+0.2)
	assert.InDelta(t, meta.R2PCA[1], *meta.R2, 0.02)
	assert.Less(t, meta.Explained[0], meta.R2PCA[1]-0.2)
	for k := 0; k < len(x.X); k += 17 {
		x.X[k] = math.NaN()
	}
	c.IgnoreMissing = true
	gaps := learn(t, x, c).Model.Meta
	assert.InDelta(t, *meta.R2, *gaps.R2, 0.02)
	assert.Nil(t, gaps.R2PCA)
}

// Rows of weight 0 do not count, however far away they are.
func TestExplainedVarianceOfWeighted(t *testing.T) {
	x := Data{N: 60, D: 3, X: gaussians(5, 180), Weights: make([]float64, 60)}
	for i := range 59 {
		x.Weights[i] = 1
	}
	c := Config{Latent: 2, Loss: losses.SquaredL2()}
	for _, far := range []float64{1e3, 1e150, 1e300} {
		copy(x.Row(59), []float64{far, -far, far})
		without := learn(t, x.Slice(0, 59), c).Model.Meta
		meta := learn(t, x, c).Model.Meta
		require.Len(t, meta.Explained, 2, "%v", far)
		assert.InDeltaSlice(t, without.Explained, meta.Explained, 1e-9, "%v", far)
		assert.InDeltaSlice(t, without.Mean, meta.Mean, 1e-9, "%v", far)
	}
}

func TestCheckFeatures(t *testing.T) {
	var m Meta
	m.D = 2
	assert.NoError(t, m.CheckFeatures([]string{"b", "a"}))
	m.NameFeatures([]string{"a"})
	assert.Nil(t, m.FeatureNames)
	m.NameFeatures([]string{"a", "b"})
	assert.NoError(t, m.CheckFeatures([]string{"a", "b"}))
	assert.NoError(t, m.CheckFeatures(nil))
	assert.ErrorContains(t, m.CheckFeatures([]string{"b", "a"}), `column 0 is "b", where the model was learned from "a": the columns are in another order`)
	assert.ErrorIs(t, m.CheckFeatures([]string{"a", "c"}), ErrInput)
	assert.ErrorContains(t, m.CheckFeatures([]string{"a", "c"}), `no column "b"`)
}
