package alternating_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/alternating"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/problemtest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Rows are placed, many at a time, where each is placed alone: next to the nearest points, to 7
// digits of the distance from c.
func TestPlacedAreNearestPoints(t *testing.T) {
	const D, n = 9, 403 // no multiple of the lanes, several batches
	x := rows.Data{N: n, D: D, X: problemtest.Gaussians(5, n*D)}
	for _, shape := range [][2]int{{1, 1}, {2, 0}, {2, 1}, {2, 3}, {2, 5}, {3, 4}} {
		f := sheet.New(D, shape[0], shape[1])
		q := problemtest.Gaussians(6, D*f.M)
		assert.NoError(t, manifolds.NewStiefel(D, f.M).Restore(q))
		theta := problemtest.Gaussians(7, f.Q*f.S)
		floats.Scale(0.1, theta)
		f.Load(problemtest.Gaussians(8, D), q, theta)

		tau := make([]float64, n*f.Latent)
		alternating.NewStatelessSweep(f, nil, n, 1).Place(tau, x)
		alone := nearest.NewProjection(f)
		alone.Reload()
		want, diff := make([]float64, f.Latent), make([]float64, D)
		for i := range n {
			floats.SubTo(diff, x.Row(i), f.C)
			alone.Load(x.Row(i))
			alone.Find(want)
			assert.InDelta(t, 0, floats.Distance(want, tau[i*f.Latent:(i+1)*f.Latent], 2), 1e-7*floats.Norm(diff, 2), "%v, row %d", shape, i)
		}
	}
}
