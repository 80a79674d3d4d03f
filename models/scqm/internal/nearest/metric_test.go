package nearest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
)

// Under r'Mr no descent from many starts finds a nearer point, either.
func TestDrillNearestInMetric(t *testing.T) {
	for k := range drill.Cases(t, "nearest in a metric", 150) {
		rng := drill.Rand(t, "nearest in a metric", k)
		f := randomSheet(rng)
		if f.Latent > 2 { // exact for d <= 2
			continue
		}
		m := mat.NewDense(f.D, f.D, nil)
		for i := range f.D {
			for j := range f.D {
				m.Set(i, j, rng.NormFloat64())
			}
		}
		var square mat.Dense
		square.Mul(m, m.T())
		for i := range f.D {
			square.Set(i, i, square.At(i, i)+0.01)
		}
		loss, err := losses.Mahalanobis(&square)
		require.NoError(t, err)
		p := NewProjector(f, loss)
		x, tau := randomRow(rng, f), make([]float64, f.Latent)
		require.NoError(t, p.Project(context.Background(), tau, rows.Data{N: 1, D: f.D, X: x}, 0))
		found := p.projection.Value(tau)
		least := leastOfMany(rng, p.projection.Quadratic, 60)
		scale := p.projection.inner(p.projection.Y, p.projection.Y)
		assert.LessOrEqual(t, found, least+1e-9*(least+1e-6*scale), "case %d, d = %d, s = %d", k, f.Latent, f.S)
	}
}
