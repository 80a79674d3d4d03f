package planes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/models/rows"
)

func gaussians(seed uint64, n, D int) rows.Data {
	rng := rand.New(rand.NewPCG(seed, 60))
	x := rows.Data{N: n, D: D, X: make([]float64, n*D)}
	for i := range x.X {
		x.X[i] = rng.NormFloat64()
	}
	return x
}

// parabola are rows (t, 2t^2) with noise, in the first two of D columns: the axis of its curvature is the
// longer one.
func parabola(seed uint64, n, D int, noise float64) rows.Data {
	x := gaussians(seed, n, D)
	rng := rand.New(rand.NewPCG(seed, 61))
	for i := range n {
		row, t := x.Row(i), 2*rng.Float64()-1
		for j := range row {
			row[j] *= noise
		}
		row[0] += t
		row[1] += 4 * t * t
	}
	return x
}

// The regression is a problem with all laws, its gradient among them.
func TestRegressionIsAProblem(t *testing.T) {
	for _, d := range []int{1, 2, 3} {
		s, err := New(t.Context(), gaussians(1, 90, 7), d, 3)
		require.NoError(t, err)
		r := newRegression(s.leading(d+3), s.shares, d+3, d)
		frameworktest.TestProblem(t, fmt.Sprintf("d = %d", d), r, frameworktest.ProblemOptions{Seed: 1})
	}
}

// Scores of the rows that planes are found from have mean 0 and covariance I.
func TestScoresAreWhitened(t *testing.T) {
	s, err := New(t.Context(), gaussians(2, 300, 6), 2, 3)
	require.NoError(t, err)
	for a := range s.k {
		for b := range a + 1 {
			var mean, product float64
			for j, i := range s.few {
				mean += s.shares[j] * s.y[i*s.k+a]
				product += s.shares[j] * s.y[i*s.k+a] * s.y[i*s.k+b]
			}
			want := 0.0
			if a == b {
				want = 1
			}
			assert.InDelta(t, 0, mean, 1e-12)
			assert.InDelta(t, want, product, 1e-10)
		}
	}
}

// The best plane of a parabola that extends further along its curvature is its tangent, not the
// principal one.
func TestSearchFindsTheTangent(t *testing.T) {
	s, err := New(t.Context(), parabola(3, 200, 5, 0.05), 1, 1)
	require.NoError(t, err)
	found, err := s.Search(t.Context(), 2, 1, 0)
	require.NoError(t, err)
	assert.False(t, found[0].Principal)
	assert.Greater(t, math.Abs(s.Axes(found[0], 2)[0]), 0.99)
	for k := 1; k < len(found); k++ {
		assert.GreaterOrEqual(t, found[k].Squares, found[k-1].Squares)
	}
}

// Of 400 clouds without curvature about one in a hundred has a probability below .01, and one in five one
// below .2; a parabola has next to none.
func TestProbabilitiesHold(t *testing.T) {
	below := map[float64]int{0.01: 0, 0.2: 0}
	for seed := range uint64(400) {
		s, err := New(t.Context(), gaussians(1000+seed, 60+int(seed%5)*30, 4+int(seed%4)), 2, 2)
		require.NoError(t, err)
		found, err := s.Search(t.Context(), 2, 2, 0) // the principal plane alone
		require.NoError(t, err)
		for level := range below {
			if s.Screen(found[0]).P <= level {
				below[level]++
			}
		}
	}
	assert.LessOrEqual(t, below[0.01], 14)
	assert.InDelta(t, 80, below[0.2], 40)

	s, err := New(t.Context(), parabola(4, 200, 5, 0.1), 1, 1)
	require.NoError(t, err)
	found, err := s.Search(t.Context(), 2, 1, 0)
	require.NoError(t, err)
	e := s.Screen(found[0])
	assert.Less(t, e.P, 1e-12)
	assert.Equal(t, 1, e.Directions(0))
}

// The slope of rows on their own curvature is 1, on that of a fold 0.
func TestSlopes(t *testing.T) {
	x := parabola(5, 500, 3, 0)
	axes := []float64{1, 0, 0, 0, 1, 0}
	right := SlopeOf(x, make([]float64, 3), axes, []float64{4}, 1)
	assert.InDelta(t, 1, right.Slope, 1e-9)
	assert.InDelta(t, 1, right.Share, 1e-9)
	half := SlopeOf(x, make([]float64, 3), axes, []float64{8}, 1)
	assert.InDelta(t, 0.5, half.Slope, 1e-9)
	none := SlopeOf(gaussians(6, 2000, 3), make([]float64, 3), axes, []float64{4}, 1)
	assert.InDelta(t, 0, none.Slope, 0.05)
	assert.Less(t, none.Share, 0.02)
	flat := SlopeOf(gaussians(6, 2000, 3), make([]float64, 3), axes, []float64{1e-170}, 1) // whose square is 0
	assert.Less(t, flat.Share, 0.02)
}
