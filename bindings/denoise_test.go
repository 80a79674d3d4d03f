package bindings

import (
	"encoding/json"
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
	_, err := StartDenoiser(number, settings, at(x), rows, columns, 0, 0)
	require.NoError(t, err)
	require.NoError(t, await(t, number))
	out, report = pinned[float64](t, rows*columns), pinned[float64](t, rows*denoiseColumns)
	use := newNumber()
	_, err = StartDenoise(use, number, `{}`, at(x), rows, columns, at(out), at(report))
	require.NoError(t, err)
	require.NoError(t, await(t, use))
	release(t, use)
	release(t, number)
	return out, report
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
			report[i*denoiseColumns:(i+1)*denoiseColumns])
	}
}

func TestDenoisingAsksPythonForItsLoss(t *testing.T) {
	want, _ := denoised(t, `{"method":"linear","d":2,"loss":{"name":"squared_l2"}}`)
	got, _ := denoised(t, `{"method":"linear","d":2,"loss":{"name":"mine","python":true}}`)
	assert.InDeltaSlice(t, want, got, 1e-4)
}

// TestDenoisingSaysWhatItTook: the delta of Huber's loss, and the cost of sharing.
func TestDenoisingSaysWhatItTook(t *testing.T) {
	x, out := parabola(t), pinned[float64](t, rows*columns)
	number, use := newNumber(), newNumber()
	_, err := StartDenoiser(number, `{"method":"linear","d":2,"n_neighbors":-1,"loss":{"name":"huber"}}`, at(x), rows, columns, 0, 0)
	require.NoError(t, err)
	require.NoError(t, await(t, number))
	text, err := DenoiserReport(number)
	require.NoError(t, err)
	assert.Regexp(t, `"method":"linear".*"loss_params":{"delta":[0-9.e-]+}`, text)
	_, err = StartDenoise(use, number, `{"share":0.5}`, at(x), rows, columns, at(out), 0)
	require.NoError(t, err)
	require.NoError(t, await(t, use))
	text, err = DenoiseReport(use)
	require.NoError(t, err)
	var cost shared
	require.NoError(t, json.Unmarshal([]byte(text), &cost))
	assert.Positive(t, cost.Error)
	release(t, use)
	release(t, number)
}

func TestFewRowsStay(t *testing.T) {
	x, number := parabola(t), newNumber()
	_, err := StartDenoiser(number, `{"method":"auto","d":2}`, at(x), 9, columns, 0, 0)
	require.NoError(t, err)
	require.NoError(t, await(t, number))
	text, err := DenoiserReport(number)
	require.NoError(t, err)
	assert.JSONEq(t, `{"method":"auto","d":2,"axes":0,"grid_end":"","note":"auto: 9 rows are too few for quadratic charts of dimension 2; want at least 12, or the method linear; the rows are as they came"}`, text)
	release(t, number)
}

func TestADenoiserMustBeThere(t *testing.T) {
	x, out := parabola(t), pinned[float64](t, rows*columns)
	_, err := StartDenoise(newNumber(), -1, `{}`, at(x), rows, columns, at(out), 0)
	require.ErrorContains(t, err, "job: job -1")
	_, err = StartDenoise(newNumber(), -1, `{"speed":1}`, at(x), rows, columns, at(out), 0)
	require.ErrorContains(t, err, "input: settings")
	number := newNumber()
	_, err = StartDenoiser(number, `{"method":"best","d":2}`, at(x), rows, columns, 0, 0)
	require.NoError(t, err)
	require.ErrorContains(t, await(t, number), `input: denoise: no method "best"; there are auto, `)
	_, err = DenoiserReport(number)
	require.ErrorContains(t, err, "job: ")
	release(t, number)
}

func TestMethods(t *testing.T) {
	text, err := Methods()
	require.NoError(t, err)
	var list []struct {
		Name     string
		Settings []string
	}
	require.NoError(t, json.Unmarshal([]byte(text), &list))
	require.Len(t, list, len(denoise.Describe()))
	assert.Equal(t, "auto", list[0].Name)
	assert.Equal(t, []string{"Loss"}, list[0].Settings)
}
