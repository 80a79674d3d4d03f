package classic

import (
	"cmp"
	"context"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
)

// LPCA is local principal component analysis: the projection on the plane
// through the mean of the neighbours along their principal directions.
type LPCA struct {
	// Latent is d, the dimension of the surface, 1 <= d <= D.
	Latent int
	// Neighbors is K, at least d+1; 0 stands for 30.
	Neighbors int
}

// Name returns "lpca".
func (LPCA) Name() string { return "lpca" }

// Size returns the number of neighbours.
func (m LPCA) Size(n, D int) (int, error) {
	return core.SettleSize(m, m.Latent, D, m.Neighbors, n, m.Latent+1)
}

// Prepare has nothing to do.
func (m LPCA) Prepare(_ context.Context, c *core.Cloud, _ core.Options) (core.Fitted, error) {
	return core.PerWorker(func(context.Context) (core.Worker, error) {
		return &lpcaWorker{chart.NewFrame(c.D, m.Latent)}, nil
	}), nil
}

type lpcaWorker struct{ *chart.Frame }

func (w *lpcaWorker) Place(h *core.Neighborhood, about *core.Row) error {
	if !w.Find(h.Rows, h.Weights) {
		return core.ErrNoSurface
	}
	about.Noise = w.Noise(h.N())
	return nil
}

func (w *lpcaWorker) Project(dst, x []float64) error {
	w.Flat(dst, x)
	return nil
}

// Dimension is Latent.
func (m LPCA) Dimension() int { return m.Latent }

// Sized implements sized.
func (m LPCA) Sized(latent, neighbors int) core.Method {
	m.Latent, m.Neighbors = cmp.Or(latent, m.Latent), cmp.Or(neighbors, m.Neighbors)
	return m
}
