package nearest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Rows projected together have the bits of each row alone, and are no farther than where Newton's
// method from their own coordinates leads, one by one; more than half are projected by the batch, and those
// are at rest to all digits.
func TestRowsProjectedTogether(t *testing.T) {
	const D, n = 9, 203 // no multiple of the lanes, and several batches
	rng := rand.New(rand.NewPCG(3, 3))
	draw := func(n int, by float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = by * rng.NormFloat64()
		}
		return x
	}
	for _, shape := range [][2]int{{1, 1}, {2, 0}, {2, 1}, {2, 3}, {2, 5}, {3, 4}} {
		f := sheet.New(D, shape[0], shape[1])
		q := draw(D*f.M, 1)
		require.NoError(t, manifolds.NewStiefel(D, f.M).Restore(q))
		f.Load(draw(D, 1), q, draw(f.Q*f.S, 0.1))
		d, x := f.Latent, rows.Data{N: n, D: D, X: draw(n*D, 1)}
		copy(x.Row(7), f.C)

		tau, one := make([]float64, n*d), make([]float64, d)
		p := NewProjector(f, losses.L2())
		require.NoError(t, p.Project(t.Context(), tau, x, 0))
		projected := 0
		for i := range n {
			if most := p.batch.most; i%most == 0 {
				p.squares = p.batch.ProjectRows(make([]float64, most*d), x.X[i*D:], min(most, n-i))
			}
			own := tau[i*d : (i+1)*d]
			require.NoError(t, NewProjector(f, losses.L2()).Project(t.Context(), one, rows.Data{N: 1, D: D, X: x.Row(i)}, 0))
			require.Equal(t, one, own, "%v, row %d", shape, i)
			p.projection.Load(x.Row(i))
			least := p.projection.Find(make([]float64, d))
			value := p.projection.Value(own)
			assert.LessOrEqual(t, value, least+1e-12*(1+least), "%v, row %d", shape, i)
			if p.projected(i) {
				projected++
				p.projection.derivatives(own)
				assert.LessOrEqual(t, floats.Norm(p.projection.g, 2), 2*projectGradient*floats.Norm(p.projection.Y, 2), "%v, row %d", shape, i)
			}
		}
		assert.Greater(t, projected, n/2, "%v", shape)
	}
}

// A row that is no number, or too large to be squared, does not move those beside it.
func TestBrokenRowsBesideOthers(t *testing.T) {
	f := sheet.New(4, 2, 2)
	q := []float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}
	f.Load(make([]float64, 4), q, []float64{.1, 0, .2, .1, 0, .3})
	rng := rand.New(rand.NewPCG(4, 4))
	x := make([]float64, 16*4)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	b, want, got := NewBatch(f, LastStep), make([]float64, 32), make([]float64, 32)
	b.ProjectRows(want, x, 16)
	for i, v := range []float64{math.NaN(), math.Inf(1), 1e200} {
		x[4*(3+5*i)] = v
	}
	u := b.ProjectRows(got, x, 16)
	for i := range 16 {
		if i == 3 || i == 8 || i == 13 {
			assert.False(t, u[i] >= 0, i)
		} else {
			assert.Equal(t, want[2*i:2*i+2], got[2*i:2*i+2], i)
		}
	}
}
