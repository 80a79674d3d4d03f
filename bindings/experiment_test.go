package bindings

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/experiments"
	"github.com/scqm/scqm/models/scqm"
)

// The report and the arrays are those of the experiment.
func TestExperimentIsThatOfTheLibrary(t *testing.T) {
	number := newNumber()
	defer release(t, number)
	const n, D = 75, 4
	x, labels := pinned[float64](t, n*D), pinned[float64](t, n)
	digits := experiments.Digits{X: scqm.Data{N: n, D: D, X: x}}
	for i := range n {
		labels[i] = []float64{2, 6, 8}[i%3]
		digits.Labels = append(digits.Labels, []string{"2", "6", "8"}[i%3])
		x[i*D+i%3] = 1 + 0.1*math.Sin(float64(i*i))
		x[i*D+3] = 0.1 * math.Cos(float64(i*i))
	}
	_, err := StartExperiment(number, "interpolation", `{"reps":1,"quick":true,"seed":3}`, at(x), n, D, at(labels))
	require.NoError(t, err)
	require.NoError(t, await(t, number))
	text, err := ExperimentReport(number)
	require.NoError(t, err)
	want, err := experiments.Run(t.Context(), "interpolation", experiments.Settings{Seed: 3, Reps: 1, Quick: true}, nil, digits)
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
