package denoise

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/rows"
)

// TestBendOfNothing wants no bend of planes that rows are on, but for noise.
func TestBendOfNothing(t *testing.T) {
	for seed := range uint64(6) {
		require.Nil(t, planeOf(t, Auto{Latent: 2}, linearRows(40+seed, 300, 20, 9, 8, 7), Options{}).bend)
	}
}

// TestBendIsShrunk: a sheet that bends by little into many columns is nearer to its plane with its bend than without, the bend is
// orthogonal to the axes, and what is said of its gain is about so.
func TestBendIsShrunk(t *testing.T) {
	s := surfaceSample(7000, 600, 20, .05, 2, widePoint)
	p := planeOf(t, Auto{Latent: 2}, s.x, Options{})
	require.NotNil(t, p.bend)
	z, off := p.coordinates(s.clean, 1)
	before, after := 0.0, 0.0
	y, flat := make([]float64, 20), p.straight()
	for i := range s.clean.N {
		at := z[i*p.r : (i+1)*p.r]
		p.back(y, at)
		far := rows.Distance(y, s.clean.Row(i))
		require.InDelta(t, far, p.bend.off(s.clean.Row(i), p.centre, at, off[i]), 1e-9)
		before, after = before+off[i]*off[i]/600, after+far*far/600
		flat.back(y, at)
		require.InDelta(t, off[i], rows.Distance(y, s.clean.Row(i)), 1e-9)
	}
	t.Logf("%.5f -> %.5f, said to gain %.5f", before, after, p.bent())
	require.Less(t, after, .8*before)
	require.InDelta(t, before-after, p.bent(), .5*(before-after))
	p.back(y, []float64{1e300, -1e300, 1e300, -1e300}[:p.r])
	for _, v := range y {
		require.False(t, math.IsNaN(v) || math.IsInf(v, 0))
	}
}

// TestLinearBesideBent: charts of a sheet in many columns are not turned down for a linear model by the chance of few rows.
func TestLinearBesideBent(t *testing.T) {
	if testing.Short() {
		t.Skip("3 s: auto on 600 rows of 20 columns; make test runs it")
	}
	needSpeed(t)
	s := surfaceSample(7006, 600, 20, .05, 2, widePoint)
	d, err := Fit(context.Background(), Auto{Latent: 2}, s.x, Options{})
	require.NoError(t, err)
	require.Empty(t, d.Note())
	require.Equal(t, "auto", d.Method().Name())
}
