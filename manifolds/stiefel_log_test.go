package manifolds_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/manifolds"
)

// TestDrillStiefelLog: the logarithm inverts the exponential up to 3.1, nearly the
// injectivity radius, whatever the shape and the kind of vector, and its length is a distance.
func TestDrillStiefelLog(t *testing.T) {
	drill.Run(t, "stiefel logarithms", 15, func(c drill.Case) error {
		p := 1 + c.IntN(6)
		m := manifolds.NewStiefel(p+c.IntN(8), p)
		x := point(m, c.Rand)
		length := []float64{1e-9, 1e-3, 0.5, 2, 2.8, 3, 3.1}[c.IntN(7)]
		v := tangent(m, x, length, c.Rand)
		if c.IntN(3) == 0 { // of low rank
			for i := range v {
				if i%p > 0 {
					v[i] = 0
				}
			}
			m.Project(v, x, v)
			if size := floats.Norm(v, 2); size > 0 {
				floats.Scale(length/size, v)
			}
		}
		size := floats.Norm(v, 2)
		y, w := make([]float64, m.Size()), make([]float64, m.Size())
		if err := m.Exp(y, x, v); err != nil {
			return err
		}
		if err := m.Log(w, x, y); err != nil {
			return fmt.Errorf("%v, length %g: %w", m, size, err)
		}
		// Close to the radius ends tell less of the vectors.
		tolerance := 1e-10/math.Max(math.Pi-size, 1e-3) + 1e-13
		if off := floats.Distance(v, w, 2); !(off <= tolerance) {
			return fmt.Errorf("%v, length %g: off by %g", m, size, off)
		}
		forth, err1 := m.Distance(x, y)
		back, err2 := m.Distance(y, x)
		if err1 != nil || err2 != nil || !(math.Abs(forth-size) <= tolerance) || !(math.Abs(back-forth) <= tolerance) {
			return fmt.Errorf("%v: a vector of length %g spans %v (%v), %v (%v) back", m, size, forth, err1, back, err2)
		}
		return nil
	})
}

// TestStiefelLogFar: beyond the radius there is an error and nothing else, or, with one
// column or n of them, a shortest geodesic all the same.
func TestStiefelLogFar(t *testing.T) {
	rng := random(0, 41)
	refused := 0
	for range 30 {
		m := manifolds.NewStiefel(8, 4)
		x, y, v := point(m, rng), point(m, rng), make([]float64, 32)
		d, err := m.Distance(x, y)
		if err != nil {
			refused++
			require.ErrorIs(t, err, manifolds.ErrNoShortestGeodesic)
			require.ErrorIs(t, m.Log(v, x, y), manifolds.ErrNoShortestGeodesic)
			require.Zero(t, d)
			continue
		}
		require.Less(t, d, math.Pi)
		require.NoError(t, m.Log(v, x, y))
		require.NoError(t, m.Exp(x, x, v))
		require.InDeltaSlice(t, y, x, 1e-10)
	}
	assert.NotZero(t, refused)

	// The isometry diag(1, -1) of columns moves a point by pi at least.
	m := manifolds.NewStiefel(4, 2)
	x := []float64{1, 0, 0, 1, 0, 0, 0, 0}
	_, err := m.Distance(x, []float64{1, 0, 0, -1, 0, 0, 0, 0})
	assert.ErrorIs(t, err, manifolds.ErrNoShortestGeodesic)

	column, v := manifolds.NewStiefel(3, 1), make([]float64, 3)
	d, err := column.Distance([]float64{1, 0, 0}, []float64{-1, 0, 0})
	require.NoError(t, err)
	assert.InDelta(t, math.Pi, d, 1e-15)
	require.NoError(t, column.Log(v, []float64{1, 0, 0}, []float64{-1, 0, 0}))

	square, rotations := manifolds.NewStiefel(5, 5), manifolds.NewRotations(5)
	x, y := point(rotations, rng), point(rotations, rng)
	want, err := rotations.Distance(x, y)
	require.NoError(t, err)
	require.Greater(t, want, math.Pi)
	d, err = square.Distance(x, y)
	require.NoError(t, err)
	assert.InDelta(t, want, d, 1e-13)
	for i := 0; i < 25; i += 5 {
		y[i] = -y[i]
	}
	_, err = square.Distance(x, y)
	assert.ErrorContains(t, err, "no path joins")
	_, err = square.Distance(x, make([]float64, 25))
	assert.ErrorContains(t, err, "no point of the manifold")
}
