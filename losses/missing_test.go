package losses_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/losses"
)

// byEntry lists the losses that can ignore missing entries.
func byEntry(t testing.TB) map[string]framework.Loss {
	return map[string]framework.Loss{
		"squared_l2": losses.SquaredL2(), "huber": huber(t, 0.7), "l1": losses.L1(), "quantile": quantile(t, 0.8), "lp 1.5": lp(t, 1.5), "lp 2": lp(t, 2), "lp 3": lp(t, 3),
	}
}

// The losses by entry keep the laws of losses, on complete rows also where they ignore
// missing entries.
func TestByEntryConformance(t *testing.T) {
	for name, l := range byEntry(t) {
		by, err := losses.ByEntry(l)
		require.NoError(t, err)
		ignoring, err := losses.IgnoreMissing(l)
		require.NoError(t, err)
		for _, dim := range []int{1, 4} {
			frameworktest.TestLoss(t, by, frameworktest.LossOptions{Dim: dim, Seed: 2})
			frameworktest.TestLoss(t, ignoring, frameworktest.LossOptions{Dim: dim, Seed: 2})
		}
		_, kinked := l.(framework.Smoother)
		_, smoother := ignoring.(framework.Smoother)
		assert.Equal(t, kinked, smoother, name)
		_, bounded := l.(framework.Majorizer)
		_, majorizer := ignoring.(framework.Majorizer)
		assert.Equal(t, bounded, majorizer, name)
	}
}

// Huber by entry is the sum of the Huber losses of the entries, and squared_l2 what it
// is for rows.
func TestByEntryValues(t *testing.T) {
	r := gauss(24, 2)
	for _, name := range []string{"huber", "squared_l2"} {
		l := byEntry(t)[name]
		by, err := losses.ByEntry(l)
		require.NoError(t, err)
		values, grad := evaluate(t, by, r, 4)
		single, slopes := evaluate(t, l, r, 1)
		for i, v := range values {
			assert.InEpsilon(t, single[4*i]+single[4*i+1]+single[4*i+2]+single[4*i+3], v, 1e-14)
		}
		assert.InDeltaSlice(t, slopes, grad, 1e-14)
		assert.Equal(t, l.Name(), by.Name())
	}
}

// A row with missing entries scores as the row of the others.
func TestIgnoreMissing(t *testing.T) {
	r := []float64{1.5, math.NaN(), -0.2, 0, math.NaN(), 0.3, math.NaN(), -2}
	there := []float64{1.5, -0.2, 0, 0.3, -2} // rows of 3 and 2 entries
	for name, l := range byEntry(t) {
		ignoring, err := losses.IgnoreMissing(l)
		require.NoError(t, err)
		by, err := losses.ByEntry(l)
		require.NoError(t, err)
		loss := framework.Loss(ignoring)
		plain := framework.Loss(by)
		for _, eps := range []float64{0, 0.1} {
			if s, ok := ignoring.(framework.Smoother); ok && eps > 0 {
				loss, plain = s.Smooth(eps), by.(framework.Smoother).Smooth(eps)
			}
			values, grad := evaluate(t, loss, r, 4)
			first, firstGrad := evaluate(t, plain, there[:3], 3)
			second, secondGrad := evaluate(t, plain, there[3:], 2)
			assert.InDelta(t, first[0], values[0], 1e-15, name)
			assert.InDelta(t, second[0], values[1], 1e-15, name)
			assert.Equal(t, []float64{firstGrad[0], 0, firstGrad[1], firstGrad[2], 0, secondGrad[0], 0, secondGrad[1]}, grad, name)
			product := hessian(t, loss, r, []float64{1, 1, 1, 1, 1, 1, 1, 1}, 4)
			assert.Zero(t, product[1]+product[4]+product[6], name)
			if _, ok := loss.(framework.Majorizer); ok {
				w := weights(t, loss, r, 4)
				assert.Zero(t, w[1]+w[4]+w[6], name)
				assert.Positive(t, w[0], name)
			}
		}
		nothing := []float64{math.NaN(), math.NaN()}
		values, _ := evaluate(t, ignoring, nothing, 2)
		assert.True(t, math.IsNaN(values[0]), name)
		inPlace := append([]float64(nil), r...)
		_, grad := evaluate(t, ignoring, r, 4)
		require.NoError(t, ignoring.Evaluate(nil, inPlace, inPlace, 4))
		assert.Equal(t, grad, inPlace, name)
	}
}

func TestIgnoreMissingRefusesLossesOfRows(t *testing.T) {
	for _, l := range []framework.Loss{losses.L2(), mahalanobis(t, precision(3))} {
		_, err := losses.IgnoreMissing(l)
		require.ErrorIs(t, err, framework.ErrInvalid)
		assert.ErrorContains(t, err, l.Name()+" is no sum over entries")
		assert.ErrorContains(t, err, "squared_l2, huber (by entry), l1, lp")
	}
}
