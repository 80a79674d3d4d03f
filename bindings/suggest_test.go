package bindings

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/models/selection"
)

// outcome runs a job to its end and returns its report.
func outcome(t *testing.T, begin func(number int64) (int64, error), report func(int64) (string, error)) string {
	number := newNumber()
	defer release(t, number)
	_, err := begin(number)
	require.NoError(t, err)
	_, err = report(number)
	if err != nil {
		require.ErrorContains(t, err, "job: ")
	}
	require.NoError(t, await(t, number))
	text, err := report(number)
	require.NoError(t, err)
	return text
}

func TestSuggestionIsThatOfTheLibrary(t *testing.T) {
	x := parabola(t)
	text := outcome(t, func(number int64) (int64, error) {
		return StartSuggest(number, `{"max_components":1,"folds":4,"seed":3,"loss":{"name":"squared_l2"}}`, at(x), rows, columns, 0, 0)
	}, SuggestReport)
	want, err := selection.Suggest(t.Context(), scqm.Data{N: rows, D: columns, X: x}, selection.SuggestConfig{MaxLatent: 1, Folds: 4, Seed: 3, Loss: losses.SquaredL2()})
	require.NoError(t, err)
	encoded, err := encode(want)
	require.NoError(t, err)
	assert.JSONEq(t, encoded, text)
}

func TestNoiseIsThatOfTheLibrary(t *testing.T) {
	const n, D = 60, 8
	e := pinned[float64](t, n*D)
	require.NoError(t, losses.GeneralizedGaussianNoise(e, 1.3, 0.2, rand.New(rand.NewPCG(1, 2))))
	power, err := losses.EstimatePower(e, nil)
	require.NoError(t, err)
	text := outcome(t, func(number int64) (int64, error) { return StartPower(number, at(e), n*D, 0) }, NoiseReport)
	var p powerReport
	require.NoError(t, json.Unmarshal([]byte(text), &p))
	require.NotNil(t, p.PError)
	assert.Equal(t, power, losses.Power{P: p.P, PError: *p.PError, Scale: p.Scale})

	choice, err := losses.Choose(e, nil, D, 2)
	require.NoError(t, err)
	text = outcome(t, func(number int64) (int64, error) { return StartChoice(number, at(e), n, D, 2, 0) }, NoiseReport)
	var c choiceReport
	require.NoError(t, json.Unmarshal([]byte(text), &c))
	assert.Equal(t, choice.Loss.Name(), c.Loss.Name)
	assert.Equal(t, choice.Reason, c.Reason)
	assert.Equal(t, choice.Decided, c.Decided)

	number := newNumber()
	defer release(t, number)
	_, err = StartPower(number, at(e), 3, 0)
	require.NoError(t, err)
	assert.ErrorContains(t, await(t, number), "input: ")
}

// The name auto chooses the loss, and the notes say why.
func TestFitChoosesItsLoss(t *testing.T) {
	report, _ := fitted(t, `{"parameters":{"n_components":1},"loss":{"name":"auto"},"solver":"auto"}`)
	assert.Equal(t, "l2", report.Loss.Name)
	require.NotEmpty(t, report.Notes)
	assert.Contains(t, report.Notes[len(report.Notes)-1], "kept the loss l2: with 2 directions off the sheet")
}
