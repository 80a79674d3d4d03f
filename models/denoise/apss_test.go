package denoise

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/rows"
)

// TestAPSSIsExactOnSpheres wants rows of spheres and planes where they are, and new ones
// projected on them: the fits contain both.
func TestAPSSIsExactOnSpheres(t *testing.T) {
	ctx := context.Background()
	for _, D := range []int{2, 3, 4} {
		x := ballSample(1, 500, D, 2, 0)
		d, err := Fit(ctx, classic.APSS{Latent: D - 1, Neighbors: 12}, x, Options{})
		require.NoError(t, err)
		y := ballSample(2, 40, D, 2.1, 0.02)
		r, err := d.Denoise(ctx, y, Options{})
		require.NoError(t, err)
		for i := range y.N {
			size := rows.Distance(y.Row(i), make([]float64, D))
			for j, v := range y.Row(i) {
				assert.InDelta(t, 2*v/size, r.X[i*D+j], []float64{0.005, 0.01, 0.06}[D-2], "normals are those of planes of 16 rows")
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	plane := rows.Data{N: 200, D: 3}
	for range plane.N {
		a, b := rng.Float64(), rng.Float64()
		plane.X = append(plane.X, a, b, 1+a-b)
	}
	_, r, _ := describeRows(t, classic.APSS{Latent: 2, Neighbors: 20}, plane, Orientation{})
	assert.InDeltaSlice(t, plane.X, r.X, 1e-9)
}

// TestAPSSDenoises wants the error of the method near that of a projection on the
// sphere, with its K chosen, and outliers without effect.
func TestAPSSDenoises(t *testing.T) {
	m, err := ByName("apss", Settings{Latent: 2})
	require.NoError(t, err)
	s := sphereSample(3, 150, 0.06)
	got := s.meanSquare(run(t, m, s.x, Options{}).X)
	oracle := s.oracleError()
	assert.Less(t, got, 1.1*oracle)
	for i := 0; i < s.x.N; i += 20 {
		for j := range 3 {
			s.x.X[3*i+j] *= 1.5
		}
	}
	r := run(t, classic.APSS{Latent: 2, Neighbors: 60}, s.x, Options{})
	var sum, count float64
	for i := range s.x.N {
		if i%20 != 0 {
			sum += math.Pow(rows.Distance(r.X[3*i:3*i+3], make([]float64, 3))-1, 2)
			count++
		}
	}
	assert.Less(t, math.Sqrt(sum/count), 0.03)
}

func TestAPSSRefuses(t *testing.T) {
	x := ballSample(1, 50, 3, 1, 0.1)
	for _, m := range []classic.APSS{{Latent: 1}, {Latent: 4}, {Latent: 2, Neighbors: 4}} {
		_, err := Fit(context.Background(), m, x, Options{})
		require.ErrorIs(t, err, ErrInput)
	}
	_, err := Fit(context.Background(), classic.APSS{Latent: 1}, x, Options{})
	require.ErrorContains(t, err, "surfaces of dimension 2, not 1")
}
