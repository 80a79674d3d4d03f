package bindings

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/models/selection"
)

// reportOfJob runs a job to its end and reads its report.
func reportOfJob(t *testing.T, act, settings, arrays string, into any) {
	number := newNumber()
	defer release(t, number)
	_, err := Start(number, act, settings, arrays)
	require.NoError(t, err)
	if _, err = Report(number); err != nil {
		require.ErrorContains(t, err, "job: ")
	}
	require.NoError(t, await(t, number))
	made(t, number, into)
}

func TestSuggestionIsThatOfTheLibrary(t *testing.T) {
	x := parabola(t)
	var got any
	reportOfJob(t, "suggest", `{"max_components":1,"folds":4,"seed":3,"loss":{"name":"squared_l2"}}`, rowsAt(t, x), &got)
	want, err := selection.Suggest(t.Context(), scqm.Data{N: rows, D: columns, X: x}, selection.SuggestConfig{MaxLatent: 1, Folds: 4, Seed: 3, Loss: losses.SquaredL2()})
	require.NoError(t, err)
	expected, err := encode(want)
	require.NoError(t, err)
	text, err := encode(got)
	require.NoError(t, err)
	assert.JSONEq(t, expected, text)
}

func TestNoiseIsThatOfTheLibrary(t *testing.T) {
	const n, D = 60, 8
	e := pinned[float64](t, n*D)
	require.NoError(t, losses.GeneralizedGaussianNoise(e, 1.3, 0.2, rand.New(rand.NewPCG(1, 2))))
	residuals := arrays(t, map[string]any{"x": placed(e, n, D)})
	power, err := losses.EstimatePower(e, nil)
	require.NoError(t, err)
	var p map[string]float64
	reportOfJob(t, "power", `{}`, residuals, &p)
	assert.Equal(t, power, losses.Power{P: p["p"], PError: p["p_error"], Scale: p["scale"]})

	choice, err := losses.Choose(e, nil, D, 2)
	require.NoError(t, err)
	var c struct {
		Loss    scqm.LossMeta
		Decided bool
		Reason  string
	}
	reportOfJob(t, "choice", `{"d":2}`, residuals, &c)
	assert.Equal(t, choice.Loss.Name(), c.Loss.Name)
	assert.Equal(t, choice.Reason, c.Reason)
	assert.Equal(t, choice.Decided, c.Decided)

	number := newNumber()
	defer release(t, number)
	_, err = Start(number, "power", `{}`, arrays(t, map[string]any{"x": placed(e, 1, 3)}))
	require.NoError(t, err)
	assert.ErrorContains(t, await(t, number), "input: ")
}

// The name auto chooses the loss, and the notes say why.
func TestFitChoosesItsLoss(t *testing.T) {
	report, _ := learned(t, `{"parameters":{"n_components":1},"loss":{"name":"auto"},"solver":"auto"}`)
	assert.Equal(t, "l2", report.Loss.Name)
	require.NotEmpty(t, report.Notes)
	assert.Contains(t, report.Notes[len(report.Notes)-1], "kept the loss l2: with 2 directions off the sheet")
}
