package nearest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
)

// The projection of a row with missing entries under the sum of squares and a prior is no farther than where
// Newton's method leads from many starts.
func TestIncompleteRowsFindTheNearestPoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	loss, err := losses.IgnoreMissing(losses.SquaredL2())
	require.NoError(t, err)
	for trial := range 300 {
		f := randomSheet(rng)
		d, x := f.Latent, randomRow(rng, f)
		prior := make(Prior, d*d)
		for i := range d {
			prior[i*d+i] = math.Pow(10, -3*rng.Float64())
		}
		for range 1 + rng.IntN(f.D-1) {
			x[rng.IntN(f.D)] = math.NaN()
		}
		if rows.NoneObserved(x) {
			continue
		}
		p := NewProjector(f, loss)
		p.Missing = Missing{Loss: loss, Prior: prior}
		row := rows.Data{N: 1, D: f.D, X: x, Missing: true}
		value := func(tau []float64) float64 {
			v, err := p.value(t.Context(), loss, tau, row)
			require.NoError(t, err)
			return v
		}
		tau := make([]float64, d)
		require.NoError(t, p.Project(t.Context(), tau, row, 0))
		found, least := value(tau), math.Inf(1)
		o := NewObserved(f)
		o.Load(x, prior)
		for range 60 {
			start := slices.Clone(tau)
			for j := range start {
				start[j] += (1 + 3*math.Abs(start[j])) * rng.NormFloat64()
			}
			o.Minimize(start, maxSteps, precision)
			least = min(least, value(start))
		}
		assert.LessOrEqual(t, found, least+1e-8*(1+least), "trial %d, d = %d, s = %d", trial, d, f.S)
	}
}
