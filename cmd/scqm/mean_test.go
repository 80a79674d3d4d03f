package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMean(t *testing.T) {
	p := newPlace(t)
	data := p.file("data.csv", "a,b\n0,0\n2,0\n0,2\n2,2\n1,101\n")
	p.file("mean.csv", succeed(t, "mean", data, "--loss", "squared_l2"))
	average := p.read("mean.csv")
	assert.Equal(t, []string{"a", "b"}, average.Names)
	assert.InDeltaSlice(t, []float64{1, 21}, average.Data, 1e-7)
	p.file("mean.csv", succeed(t, "mean", data, "--loss", "l1"))
	assert.InDeltaSlice(t, []float64{1, 2}, p.read("mean.csv").Data, 1e-6)

	report := meanReport{}
	require.NoError(t, json.Unmarshal([]byte(succeed(t, "mean", data, "--json", "--top", "2", "--influence", p.path("all.csv"))), &report))
	assert.Less(t, report.Mean[1], 2.0)
	assert.Equal(t, "converged", report.Status)
	assert.Len(t, report.Top, 2)
	all := p.read("all.csv")
	assert.Equal(t, []string{"influence", "residual"}, all.Names)
	for _, row := range report.Top {
		assert.Equal(t, []float64{row.Influence, row.Residual}, all.Row(row.Row))
	}

	for _, loss := range []string{"huber", "l1", "l2"} {
		text := succeed(t, "mean", data, "--loss", loss, "-o", p.path("mean.npy"))
		assert.Contains(t, text, "of 5 rows of 2 columns, loss "+loss)
		assert.Contains(t, text, "row  influence")
		assert.Equal(t, 1, p.read("mean.npy").Rows)
	}
	equal := p.file("equal.csv", "1,2\n1,2\n")
	assert.Contains(t, succeed(t, "mean", equal, "--loss", "l2", "-o", p.path("mean.npy")), "all rows are equal")
}
