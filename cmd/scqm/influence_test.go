package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// A row far off the surface that the others are on heads the list.
func TestInfluenceListsOutlierFirst(t *testing.T) {
	p := newPlace(t)
	x := bowl(60, 4)
	for j := range x.Cols {
		x.Data[17*x.Cols+j] += 1.5
	}
	data, model := p.matrix("data.npy", x), p.path("model.npz")
	succeed(t, "fit", data, "-o", model, "--loss", "huber", "--delta", "0.3", "--ridge", "0.1", "-s", "1")

	list := strings.Split(succeed(t, "influence", model, data, "--top", "3"), "\n")
	assert.Equal(t, []string{"row", "influence", "residual", "without", "it", "leverage"}, strings.Fields(list[0]))
	assert.Equal(t, "17", strings.Fields(list[1])[0])
	assert.Equal(t, "", list[4])
	assert.Contains(t, list[5], "all 60 rows  median influence")

	var report influenceReport
	require.NoError(t, json.Unmarshal([]byte(succeed(t, "influence", model, data, "--json", "-o", p.path("all.csv"), "--threads", "1")), &report))
	assert.Len(t, report.Top, 10)
	assert.Equal(t, 60, report.N)
	assert.Equal(t, []string{}, report.Notes)
	assert.Less(t, report.Remaining, report.Median/100)
	all := p.read("all.csv")
	assert.Equal(t, []string{"influence", "residual", "residual_without", "leverage"}, all.Names)
	influences := make([]float64, all.Rows)
	for i := range influences {
		influences[i] = all.Row(i)[0]
	}
	for _, row := range report.Top {
		assert.Equal(t, []float64{row.Influence, row.Residual, row.Without, row.Leverage}, all.Row(row.Row))
	}
	assert.Equal(t, floats.Max(influences), report.Top[0].Influence)
	assert.True(t, slices.IsSortedFunc(report.Top, func(a, b influentialRow) int { return int(b.Influence*1e9) - int(a.Influence*1e9) }))

	p.file("piped.csv", succeed(t, "influence", model, data, "-o", "-"))
	assert.Equal(t, all.Data, p.read("piped.csv").Data)
}
