package bindings

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/denoise"
	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/scqm"
)

// denoised fits a method to the parabola and denoises its rows.
func denoised(t *testing.T, settings string) (out, report []float64) {
	x := parabola(t)
	number := newNumber()
	_, err := Start(number, "denoiser", settings, rowsAt(t, x))
	require.NoError(t, err)
	require.NoError(t, await(t, number))
	use := newNumber()
	_, err = Start(use, "denoise", fmt.Sprintf(`{"denoiser":%d}`, number), rowsAt(t, x))
	require.NoError(t, err)
	require.NoError(t, await(t, use))
	a := made(t, use, nil)
	release(t, use)
	release(t, number)
	return a["out"], a["about"]
}

func TestDenoisingIsThatOfTheLibrary(t *testing.T) {
	out, report := denoised(t, `{"method":"mls","d":2,"n_neighbors":12}`)
	data := scqm.Data{N: rows, D: columns, X: parabola(t)}
	d, err := denoise.Fit(t.Context(), classic.MLS{Latent: 2, Neighbors: 12}, data, denoise.Options{})
	require.NoError(t, err)
	want, err := d.Denoise(t.Context(), data, denoise.Options{})
	require.NoError(t, err)
	assert.Equal(t, want.X, out)
	for i, row := range want.Rows {
		assert.Equal(t, []float64{row.Residual, row.Noise, float64(row.Neighbors), row.Ridge, truth(row.Extrapolated), truth(row.Unchanged)},
			report[6*i:6*(i+1)])
	}
}

func TestDenoisingAsksPythonForItsLoss(t *testing.T) {
	want, _ := denoised(t, `{"method":"linear","d":2,"loss":{"name":"squared_l2"}}`)
	got, _ := denoised(t, `{"method":"linear","d":2,"loss":{"name":"mine","python":true}}`)
	assert.InDeltaSlice(t, want, got, 1e-4)
}

// TestDenoisingSaysWhatItTook: the delta of Huber's loss, and the cost of sharing.
func TestDenoisingSaysWhatItTook(t *testing.T) {
	x := parabola(t)
	number, use := newNumber(), newNumber()
	_, err := Start(number, "denoiser", `{"method":"linear","d":2,"n_neighbors":-1,"loss":{"name":"huber"}}`, rowsAt(t, x))
	require.NoError(t, err)
	require.NoError(t, await(t, number))
	text, err := Report(number)
	require.NoError(t, err)
	assert.Regexp(t, `"loss_params":{"delta":[0-9.e-]+},"method":"linear"`, text)
	_, err = Start(use, "denoise", fmt.Sprintf(`{"denoiser":%d,"share":0.5}`, number), rowsAt(t, x))
	require.NoError(t, err)
	require.NoError(t, await(t, use))
	var cost float64
	made(t, use, &cost)
	assert.Positive(t, cost)
	release(t, use)
	release(t, number)
}

func TestFewRowsStay(t *testing.T) {
	x, number := parabola(t), newNumber()
	_, err := Start(number, "denoiser", `{"method":"auto","d":2}`, rowsAt(t, x[:9*columns]))
	require.NoError(t, err)
	require.NoError(t, await(t, number))
	text, err := Report(number)
	require.NoError(t, err)
	assert.JSONEq(t, `{"lengths":{},"report":{"method":"auto","d":2,"axes":0,"grid_end":"","note":"auto: 9 rows are too few for quadratic charts of dimension 2; want at least 12, or the method linear; the rows are as they came"}}`, text)
	release(t, number)
}

func TestADenoiserMustBeThere(t *testing.T) {
	x := rowsAt(t, parabola(t))
	_, err := Start(newNumber(), "denoise", `{"denoiser":-1}`, x)
	require.ErrorContains(t, err, "job: job -1")
	_, err = Start(newNumber(), "denoise", `{"speed":1}`, x)
	require.ErrorContains(t, err, "input: settings")
	fit := newNumber()
	defer release(t, fit)
	_, err = Start(fit, "fit", plain, x)
	require.NoError(t, err)
	require.NoError(t, await(t, fit))
	_, err = Start(newNumber(), "denoise", fmt.Sprintf(`{"denoiser":%d}`, fit), x)
	require.ErrorContains(t, err, "has fitted no method")
	number := newNumber()
	_, err = Start(number, "denoiser", `{"method":"best","d":2}`, x)
	require.NoError(t, err)
	require.ErrorContains(t, await(t, number), `input: denoise: no method "best"; there are auto, `)
	_, err = Report(number)
	require.ErrorContains(t, err, "job: ")
	release(t, number)
}
