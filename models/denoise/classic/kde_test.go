package classic

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// sphere draws points of the unit sphere with noise.
func sphere(n int) rows.Data {
	rng := rand.New(rand.NewPCG(1, 77))
	x := rows.Data{N: n, D: 3, X: make([]float64, 3*n)}
	for i := range n {
		p := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		norm := floats.Norm(p, 2)
		for j, v := range p {
			x.Row(i)[j] = v/norm + 0.03*rng.NormFloat64()
		}
	}
	return x
}

// TestLocalKernelsAreLocal: leaving out rows beyond the 16 K nearest changes next
// to nothing where the surface has few dimensions, and the cost no longer grows
// with the rows where nearly all of them are within reach.
func TestLocalKernelsAreLocal(t *testing.T) {
	x := sphere(3000)
	m := KDE{Latent: 2, Local: true, Neighbors: 12}
	c, err := core.CloudOf(x)
	require.NoError(t, err)
	d, err := core.Prepare(context.Background(), m, c, core.Options{})
	require.NoError(t, err)
	worker, err := d.Fitted.Worker(context.Background())
	require.NoError(t, err)
	var h core.Neighborhood
	var find lookup.Search
	w := worker.(*kdeWorker)
	few, all := make([]float64, 3), make([]float64, 3)
	for i := 0; i < x.N; i += 100 {
		h.At(c, &find, x.Row(i), d.Size)
		require.NoError(t, w.Place(&h, &core.Row{}))
		require.NoError(t, w.Project(few, x.Row(i)))
		require.LessOrEqual(t, len(w.found), 16*12)
		w.most = x.N
		require.NoError(t, w.Project(all, x.Row(i)))
		require.Greater(t, len(w.found), 16*12)
		require.Less(t, rows.Distance(few, all), 0.02*w.h)
	}
}
