package denoise

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/rows"
)

// TestSelectDimension wants the dimension of curves and surfaces, in rows of several
// lengths.
func TestSelectDimension(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	helix := rows.Data{N: 150, D: 3}
	for range helix.N {
		a := 4 * math.Pi * rng.Float64()
		for _, v := range []float64{math.Cos(a), math.Sin(a), a / 4} {
			helix.X = append(helix.X, v+0.05*rng.NormFloat64())
		}
	}
	for name, c := range map[string]struct {
		x    rows.Data
		want int
	}{
		"helix":  {helix, 1},
		"circle": {ballSample(1, 80, 2, 1, 0.05), 1},
		"sphere": {ballSample(2, 200, 3, 1, 0.05), 2},
	} {
		m, err := ByName("mls", Settings{Latent: ChooseLatent})
		require.NoError(t, err)
		d, err := Fit(context.Background(), m, c.x, Options{})
		require.NoError(t, err)
		require.Equal(t, c.want, d.Latent(), name)
		require.Equal(t, classic.MLS{Latent: c.want}, d.Method(), name)
		require.Equal(t, NotChosen, d.Grid(false))
	}
	d, err := Fit(context.Background(), SelectDimension{classic.LPCA{}}, ballSample(1, 6, 3, 1, 0.1), Options{})
	require.NoError(t, err)
	require.Contains(t, d.Note(), "too few to choose the dimension")
}

// TestGrid wants the ends of the grid told from its inside: a plane needs all
// neighbours that there are, and rows without noise few.
func TestGrid(t *testing.T) {
	flat := rows.Data{N: 150, D: 3, X: normalRows(4, 150, 3)}
	for i := range flat.N {
		flat.X[3*i+2] *= .1
	}
	for want, x := range map[Grid]rows.Data{
		Largest:  flat,
		Smallest: parabola(200, 5),
	} {
		d, err := Fit(context.Background(), Auto{Latent: 2}, x, Options{})
		require.NoError(t, err)
		require.Equal(t, want, d.Grid(true), want.String())
	}
	d, err := Fit(context.Background(), Auto{Latent: 2, Neighbors: 30}, ballSample(4, 120, 3, 1, 0.3), Options{})
	require.NoError(t, err)
	require.Equal(t, NotChosen, d.Grid(true))
}

// BenchmarkSelectDimension is the choice on 2,000 rows of a sphere in four dimensions.
func BenchmarkSelectDimension(b *testing.B) {
	x := ballSample(3, 2000, 4, 1, 0.03)
	for b.Loop() {
		d, err := Fit(context.Background(), SelectDimension{classic.LPCA{}}, x, Options{})
		require.NoError(b, err)
		require.Equal(b, 3, d.Latent())
	}
}
