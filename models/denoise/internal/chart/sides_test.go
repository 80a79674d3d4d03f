package chart

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

func TestHyperbolicTangent(t *testing.T) {
	for x := -30.0; x <= 30; x += .01 {
		require.InDelta(t, math.Tanh(x), hyperbolicTangent(x), 1e-4)
	}
	require.True(t, math.IsNaN(hyperbolicTangent(math.NaN())))
	require.Equal(t, -1.0, hyperbolicTangent(math.Inf(-1)))
}

// TestTakeSide splits charts of rows on one plane, on two and among outliers, for a row on either side.
func TestTakeSide(t *testing.T) {
	const n, noise = 500, .01
	for _, c := range []struct{ half, outliers float64 }{{.012, 0}, {.02, .2}, {.05, 0}, {0, 0}} {
		rng := rand.New(rand.NewPCG(21, 21))
		x := make([]float64, 3*n)
		for i := range n {
			side := c.half * float64(1-2*(i%2))
			copy(x[3*i:], []float64{rng.Float64() - .5, rng.Float64() - .5, side + noise*rng.NormFloat64()})
			if rng.Float64() < c.outliers {
				x[3*i+2] = 2*rng.Float64() - 1
			}
		}
		r := NewRows(&Space{})
		for i := range n {
			r.Found = append(r.Found, lookup.Near{Row: i, Distance: dot3(x[3*i:])})
		}
		r.Found = append(r.Found, lookup.Near{Distance: 1})
		r.Gather(NewSource(rows.Data{N: n, D: 3, X: x}, x, nil), n)
		s := Setting{Rounds: 1, Scale: noise, Sides: max(c.half, noise), Cut: 10 * math.Hypot(noise, c.half)}
		for _, up := range []float64{1, -1} {
			var chart Space
			require.True(t, chart.Prepare([]float64{0, 0, 0}, []float64{0, 0, up}, &r, &s))
			require.True(t, chart.Solve(0))
			s := s
			s.Cut = 4.7 * noise
			require.True(t, chart.TakeSide([]float64{0, 0, up}, &s))
			foot := make([]float64, 3)
			require.True(t, chart.Foot(foot, []float64{0, 0, up}))
			require.InDelta(t, up*c.half, foot[2], .3*noise, "%v", c)
			require.InDelta(t, noise, chart.Noise(), .3*noise, "%v", c)
		}
	}
}

func dot3(x []float64) float64 { return x[0]*x[0] + x[1]*x[1] + x[2]*x[2] }
