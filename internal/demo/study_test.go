package demo

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/experiments"
	"github.com/scqm/scqm/models/scqm"
)

// numbered returns n images of which image i holds i and its pixel numbers, with
// the labels 4, 5 and 9 in turn.
func numbered(n int) (scqm.Data, []string) {
	x := scqm.Data{N: n, D: experiments.ImageSide * experiments.ImageSide}
	var labels []string
	for i := range n {
		for k := range x.D {
			x.X = append(x.X, float64(i)+float64(k)/1000)
		}
		labels = append(labels, []string{"4", "5", "9"}[i%3])
	}
	return x, labels
}

func TestSplitHoldsDigitsOut(t *testing.T) {
	x, labels := numbered(360)
	all, err := experiments.NewDigits(x, labels)
	require.NoError(t, err)
	digits, err := Split(all)
	require.NoError(t, err)
	assert.Equal(t, []int{100, 140}, []int{digits.Learned.N, digits.HeldOut.N})
	assert.Equal(t, []string{"4", "9", "4"}, digits.Kinds[:3])
	assert.Equal(t, x.Row(2), digits.Learned.Row(1))
	assert.Equal(t, x.Row(150), digits.HeldOut.Row(0))

	_, err = experiments.NewDigits(x, labels[1:])
	require.ErrorIs(t, err, experiments.ErrImages)
	assert.EqualError(t, err, "360 images, but 359 labels: no images of digits")
	x.N, x.D = 2*x.N, x.D/2
	_, err = experiments.NewDigits(x, labels)
	assert.EqualError(t, err, "392 pixels an image, want 28 x 28: no images of digits")

	all.X.N, all.Labels = 150, all.Labels[:150]
	_, err = Split(all)
	require.ErrorIs(t, err, experiments.ErrDigits)
	assert.EqualError(t, err, "50 images of a 4, want more than 50: not enough images")
}

// A study that was interrupted has no models to show.
func TestStudyEndsWithItsFits(t *testing.T) {
	x, labels := numbered(306)
	digits, err := Split(experiments.Digits{X: x, Labels: labels})
	require.NoError(t, err)
	for _, failure := range []error{nil, context.DeadlineExceeded} {
		_, err = NewStudy(t.Context(), digits, func(context.Context, scqm.Data, scqm.Config) (*scqm.Fit, error) {
			return &scqm.Fit{Run: &framework.Result{Status: framework.Cancelled}}, failure
		})
		want := failure
		if want == nil {
			want = context.Canceled
		}
		require.ErrorIs(t, err, want)
		assert.ErrorContains(t, err, "principal components: ")
	}
}
