package losses_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
)

func TestHuberRefusesDelta(t *testing.T) {
	for _, delta := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := losses.Huber(delta)
		require.ErrorIs(t, err, framework.ErrInvalid)
		assert.ErrorContains(t, err, fmt.Sprintf("losses: huber: delta = %v: want a positive number", delta))
	}
}

// TestHuberPieces checks the formula on both sides of delta, and that value and
// gradient are continuous there.
func TestHuberPieces(t *testing.T) {
	l := huber(t, 2)
	values, grad := evaluate(t, l, []float64{0.6, 0.8, 6, 8}, 2)
	assert.InDeltaSlice(t, []float64{0.5, 2*10 - 2}, values, 1e-14)
	assert.InDeltaSlice(t, []float64{0.6, 0.8, 1.2, 1.6}, grad, 1e-14)
	for _, side := range []float64{1, math.Inf(1)} {
		x := math.Nextafter(2, side)
		values, grad := evaluate(t, l, []float64{x}, 1)
		assert.InDelta(t, 2, values[0], 1e-14)
		assert.InDelta(t, 2, grad[0], 1e-14)
	}
}

// TestDefaultDelta checks the scale on Gaussian residuals of one entry,
// where 1.345 standard deviations are due, and what must not disturb it.
func TestDefaultDelta(t *testing.T) {
	norms := gauss(20001, 3)
	for i, v := range norms {
		norms[i] = math.Abs(v)
	}
	delta := losses.DefaultDelta("huber", norms)
	assert.InEpsilon(t, 1.345*3, delta, 0.02)
	assert.Equal(t, delta, losses.DefaultDelta("huber", append([]float64{0, 0, math.NaN(), math.Inf(1)}, norms...)))

	outliers := append([]float64{1e9, 1e9, 1e9}, norms...)
	assert.InEpsilon(t, delta, losses.DefaultDelta("huber", outliers), 1e-3)

	larger := make([]float64, len(norms))
	floats.ScaleTo(larger, 8, norms)
	assert.Equal(t, 8*delta, losses.DefaultDelta("huber", larger))

	assert.InEpsilon(t, 1.9941, losses.DefaultDelta("huber", []float64{2, 0.5, 1}), 1e-4)
	assert.InEpsilon(t, 1.9941*1.5, losses.DefaultDelta("huber", []float64{2, 1}), 1e-4)
	for _, degenerate := range [][]float64{nil, {}, {0, 0}, {math.NaN()}} {
		assert.Equal(t, 1., losses.DefaultDelta("huber", degenerate))
	}
	for _, extreme := range []float64{math.MaxFloat64, math.SmallestNonzeroFloat64} {
		_, err := losses.Huber(losses.DefaultDelta("huber", []float64{extreme}))
		assert.NoError(t, err)
	}
}
