package bindings

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/experiments"
)

// The report and the arrays are those of the experiment.
func TestExperimentIsThatOfTheLibrary(t *testing.T) {
	number := newNumber()
	defer release(t, number)
	_, err := StartExperiment(number, "sphere", `{"reps":1,"quick":true,"seed":3,"sigmas":[0.1]}`, 0, 0, 0, 0)
	require.NoError(t, err)
	require.NoError(t, await(t, number))
	text, err := ExperimentReport(number)
	require.NoError(t, err)
	want, err := experiments.Run(t.Context(), "sphere", experiments.Settings{Seed: 3, Reps: 1, Quick: true}, []float64{0.1}, experiments.Digits{})
	require.NoError(t, err)
	encoded, err := encodeExperiment(want)
	require.NoError(t, err)
	assert.JSONEq(t, encoded, text)
	var r experimentReport
	require.NoError(t, json.Unmarshal([]byte(text), &r))
	for k, a := range r.Arrays {
		to := pinned[float64](t, len(want.Arrays[k].Data))
		_, err := ExperimentArray(number, int64(k), at(to))
		require.NoError(t, err)
		assert.Equal(t, want.Arrays[k].Data, to, a.Name)
	}
	_, err = ExperimentArray(number, int64(len(r.Arrays)), 0)
	assert.ErrorContains(t, err, "input: no array")
}

func TestExperimentRefusals(t *testing.T) {
	x := parabola(t)
	labels := pinned[float64](t, rows)
	for _, name := range []string{"torus", "mnist"} {
		number := newNumber()
		_, err := StartExperiment(number, name, `{"reps":1,"quick":true}`, at(x), rows, columns, at(labels))
		require.NoError(t, err)
		assert.ErrorContains(t, await(t, number), "input: ")
		release(t, number)
	}
}
