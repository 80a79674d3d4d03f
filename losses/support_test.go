package losses

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
)

// A support function is above g'r for every g in its ball and attains it at the
// gradient; the projection is the nearest point of the ball; rounded losses are
// those that are promised.
func TestSupportFunctions(t *testing.T) {
	const dim, n = 3, 50
	rng := rand.New(rand.NewPCG(1, 1))
	gauss := func() []float64 {
		x := make([]float64, n*dim)
		for i := range x {
			x[i] = 2 * rng.NormFloat64()
		}
		return x
	}
	sum, err := Lp(1)
	require.NoError(t, err)
	for _, loss := range []framework.Loss{L1(), L2(), sum} {
		ball := loss.(rowloss.SupportFunction)
		r, g, grad, values := gauss(), gauss(), make([]float64, n*dim), make([]float64, n)
		require.NoError(t, loss.Evaluate(values, grad, r, dim))
		outside := slices.Clone(g)
		ball.ProjectDual(g, dim)
		again := slices.Clone(grad)
		ball.ProjectDual(again, dim)
		assert.InDeltaSlice(t, grad, again, 1e-15, loss.Name())
		for i := range n {
			from, to := i*dim, (i+1)*dim
			assert.LessOrEqual(t, floats.Dot(g[from:to], r[from:to]), values[i])
			assert.InEpsilon(t, values[i], floats.Dot(grad[from:to], r[from:to]), 1e-14)
			// The angle at the projection towards any point of the ball is not acute.
			var angle float64
			for k := from; k < to; k++ {
				angle += (outside[k] - g[k]) * (grad[k] - g[k])
			}
			assert.LessOrEqual(t, angle, 1e-14, loss.Name())
		}
		const eps = 0.3
		require.NoError(t, ball.Smooth(eps).Evaluate(values, nil, r, dim))
		for i := range n {
			row, want := r[i*dim:(i+1)*dim], 0.0
			if loss.Name() == "l2" {
				want = math.Hypot(floats.Norm(row, 2), eps) - eps
			} else {
				for _, v := range row {
					want += math.Hypot(v, eps) - eps
				}
			}
			assert.InEpsilon(t, want, values[i], 1e-12, loss.Name())
		}
	}
}
