package denoise

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/rows"
)

func TestRowsWithMissingEntriesStay(t *testing.T) {
	ctx := context.Background()
	whole := sphereSample(3, 200, 0.05).x
	for name, m := range map[string]Method{"mls": classic.MLS{Latent: 2}, "auto": Auto{Latent: 2}, "curves": classic.MLS{Latent: 1}} {
		want, err := Fit(ctx, m, whole, Options{})
		require.NoError(t, err)
		alone, err := want.Denoise(ctx, whole, Options{Surface: true})
		require.NoError(t, err)
		about, err := want.Geometry(ctx, whole, alone, Orientation{}, Options{})
		require.NoError(t, err)

		// The same rows with one in front that lacks an entry, and one of nothing behind.
		nan := math.NaN()
		x := rows.Data{N: whole.N + 2, D: 3, Missing: true}
		x.X = append(append([]float64{nan, 1, 2}, whole.X...), nan, nan, nan)
		d, err := Fit(ctx, m, x, Options{})
		require.NoError(t, err)
		r, err := d.Denoise(ctx, x, Options{Surface: true})
		require.NoError(t, err)
		assert.Equal(t, alone.X, r.X[3:len(r.X)-3], name)
		assert.Equal(t, []float64{1, 2}, r.X[1:3])
		for _, i := range []int{0, x.N - 1} {
			assert.True(t, math.IsNaN(r.X[3*i]))
			assert.Equal(t, Row{Unchanged: true}, r.Rows[i])
		}
		g, err := d.Geometry(ctx, x, r, Orientation{}, Options{})
		require.NoError(t, err)
		if name != "curves" {
			assert.Equal(t, about.Normals, g.Normals[3:len(g.Normals)-3])
		}
		assert.Equal(t, about.Score, g.Score[1:x.N-1])
		assert.Zero(t, g.Score[0])

		x.Missing = false
		_, err = d.Denoise(ctx, x, Options{})
		assert.ErrorContains(t, err, "row 0, column 0 is NaN (missing)")
	}
	_, err := Fit(ctx, classic.MLS{Latent: 2}, rows.Data{N: 1, D: 3, X: []float64{math.NaN(), 1, 2}, Missing: true}, Options{})
	assert.ErrorContains(t, err, "all 1 rows have missing entries")
}
