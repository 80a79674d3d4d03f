package objective

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/losses"
)

// By Fenchel and Young l(r) + l*(g) - g'r is nowhere negative, and 0 where g is the gradient at r.
func TestConjugateOfPowers(t *testing.T) {
	for _, power := range []float64{1.01, 1.05, 1.5, 1.9} {
		loss, err := losses.Lp(power)
		require.NoError(t, err)
		for _, at := range []float64{-3, -0.1, 1e-12, 0.7, 20} {
			g, value := make([]float64, 2), make([]float64, 1)
			require.NoError(t, loss.Evaluate(value, g, []float64{at, -at}, 2))
			assert.InDelta(t, 0, value[0]+conjugate(loss, g)-g[0]*at+g[1]*at, 1e-14*value[0])
			for _, r := range []float64{-20, -0.5, 0, 1e-3, 4} {
				require.NoError(t, loss.Evaluate(value, nil, []float64{r, r}, 2))
				assert.GreaterOrEqual(t, value[0]+conjugate(loss, g)-(g[0]+g[1])*r, -1e-13*value[0], "p %g, from %g to %g", power, at, r)
			}
		}
	}
	assert.Zero(t, conjugate(losses.L1(), []float64{1, -1}))
}
